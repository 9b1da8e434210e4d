import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { decodeIds, decodeLogProbs } from '@hindcast/contracts';
import { decideRecording, type Recording } from '../core/recording';
import type { Database } from '../database';
import { run } from '../testing/command';
import { drawsOf, openDatabase, randomRecording, storeDecided } from '../testing/ledger-rows';
import { startPostgres, type TestPostgres } from '../testing/postgres';

const TURNS = 60;

let postgres: TestPostgres;
let database: Database;
let env: Record<string, string>;
let folder: string;
const all: Recording[] = [];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'hindcast-export-'));
  postgres = await startPostgres();
  env = { DATABASE_URL: await postgres.createDatabase() };
  database = await openDatabase(env['DATABASE_URL']!);
  const draw = drawsOf(2);
  for (let index = 0; index < TURNS; index++) {
    const recording = randomRecording(index, draw);
    all.push(recording);
    const tenant = index % 3 === 0 ? 'other' : 'acme';
    await database.run((prisma) => storeDecided(prisma, recording, { tenant, trainedIn: index === 0 ? 7 : null }));
  }
}, 60_000);
afterAll(async () => {
  await database.onApplicationShutdown();
  await postgres.stop();
  rmSync(folder, { recursive: true, force: true });
});

type Row = Record<string, unknown>;
interface Manifest {
  readonly file: string;
  readonly rows: number;
  readonly cases: Record<string, number>;
  readonly recordings: number;
}
async function exported(...args: string[]): Promise<Manifest> {
  const { code, printed, said } = await run(['export', '--out', folder, ...args], env);
  if (code !== 0) throw new Error(said);
  return JSON.parse(printed) as Manifest;
}
const lines = (path: string): Row[] =>
  readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Row);
async function parquet(path: string): Promise<Row[]> {
  const { asyncBufferFromFile, parquetReadObjects } = await import('hyparquet');
  return parquetReadObjects({ file: await asyncBufferFromFile(path) });
}
const sampled = (): { turnId: string; ids: number[]; logProbs: number[]; teacher: number[] | null }[] =>
  all.flatMap((recording) => {
    const { sample } = decideRecording(recording);
    if (sample === null) return [];
    const { responseIds, rolloutLogProbs, teacherLogProbs } = sample;
    const teacher = teacherLogProbs && Array.from(decodeLogProbs(teacherLogProbs));
    return [
      {
        turnId: recording.turnId,
        ids: Array.from(decodeIds(responseIds)),
        logProbs: Array.from(decodeLogProbs(rolloutLogProbs)),
        teacher,
      },
    ];
  });
const asSampled = (rows: Row[]) =>
  rows.map((row) => ({
    turnId: row['turnId'],
    ids: row['responseIds'],
    logProbs: row['rolloutLogProbs'],
    teacher: row['teacherLogProbs'] ?? null,
  }));

test.each([
  ['jsonl', lines],
  ['parquet', parquet],
] as const)('every sample is in the %s file, its ids and log-probs to the bit', async (format, read) => {
  const manifest = await exported('--format', format);
  const rows = await read(manifest.file);
  const expected = sampled();
  expect(manifest).toMatchObject({ rows: expected.length, recordings: TURNS });
  expect(Object.values(manifest.cases).reduce((sum, count) => sum + count, 0)).toBe(expected.length);
  expect(asSampled(rows)).toEqual(expected);
  expect(new Set(rows.map((row) => row['case']))).toEqual(new Set(['opdRl', 'opd', 'rl']));
  const untaught = rows.filter((row) => row['case'] === 'rl');
  expect(untaught.every((row) => (row['teacherLogProbs'] ?? null) === null)).toBe(true);
});

test('both formats say the same, and parquet types its columns', async () => {
  const [fromLines, fromParquet] = [
    await lines((await exported('--format', 'jsonl', '--what', 'conversations')).file),
    await parquet((await exported('--format', 'parquet', '--what', 'conversations')).file),
  ];
  expect(fromParquet).toHaveLength(fromLines.length);
  for (const [index, row] of fromParquet.entries()) {
    const line = fromLines[index]!;
    expect(JSON.parse(row['messages'] as string)).toEqual(line['messages']);
    expect(JSON.parse(row['answer'] as string)).toEqual({ role: 'assistant', content: 'hello' });
    expect((row['decidedAt'] as Date).toISOString()).toBe(line['decidedAt']);
    expect(row['reward'] ?? null).toBe(line['reward']);
    expect(row['turnId']).toBe(line['turnId']);
    expect(row['policyVersion']).toBe(line['policyVersion']);
  }
  expect(fromLines.some((row) => row['case'] === 'drop')).toBe(true);
});

test('the filter chooses rows; a file of the same name is replaced whole, and no part of one stays', async () => {
  const target = join(folder, 'samples.parquet');
  writeFileSync(target, 'something else');
  const { rows, cases } = await exported('--format', 'parquet', '--tenant', 'other', '--case', 'rl', 'opd');
  expect(Object.keys(cases).sort()).toEqual(['opd', 'rl']);
  expect((await parquet(target)).length).toBe(rows);
  const first = await exported('--limit', '1');
  expect(lines(first.file).map((row) => row['trainedIn'])).toEqual(first.rows === 1 ? [7] : []);
  expect(readdirSync(folder).filter((name) => name.endsWith('.part'))).toEqual([]);
});

test('an export of nothing is an empty file that can be read', async () => {
  const none = await exported('--format', 'parquet', '--until', '2d');
  expect(none).toMatchObject({ rows: 0, recordings: 0 });
  expect(await parquet(none.file)).toEqual([]);
});
