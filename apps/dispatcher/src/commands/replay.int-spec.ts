import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Database } from '../database';
import { startPostgres, type TestPostgres } from '../testing/postgres';
import { run, runJson } from '../testing/command';
import { drawsOf, openDatabase, randomRecording, storeDecided } from '../testing/ledger-rows';

const TURNS = 300;

let postgres: TestPostgres;
let database: Database;
let env: Record<string, string>;
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'hindcast-replay-'));
  postgres = await startPostgres();
  env = { DATABASE_URL: await postgres.createDatabase() };
  database = await openDatabase(env['DATABASE_URL']!);
  const draw = drawsOf(1);
  for (let index = 0; index < TURNS; index++)
    await database.run((prisma) =>
      storeDecided(prisma, randomRecording(index, draw), { tenant: index % 3 ? 'acme' : 'other' }),
    );
}, 60_000);
afterAll(async () => {
  await database.onApplicationShutdown();
  await postgres.stop();
  rmSync(folder, { recursive: true, force: true });
});

interface Summary {
  readonly turns: number;
  readonly changed: number;
  readonly unlikeLedger: number;
  readonly digests: { readonly before: string; readonly after: string };
  readonly before: { readonly cases: Record<string, number> };
  readonly after: {
    readonly cases: Record<string, number>;
    readonly tokens: { readonly opd: unknown; readonly rl: { mean: number } };
  };
}
const replay = (...args: string[]): Promise<Summary> => runJson<Summary>(['replay', ...args], env);
const total = (counts: Record<string, number>): number => Object.values(counts).reduce((sum, count) => sum + count, 0);

test('the recorded settings give the very decisions of the ledger, and the same bits each time', async () => {
  const [first, second] = [await replay(), await replay()];
  expect(first).toMatchObject({ turns: TURNS, changed: 0, unlikeLedger: 0 });
  expect(total(first.before.cases)).toBe(TURNS);
  expect(first.digests.after).toBe(first.digests.before);
  expect(second.digests).toEqual(first.digests);
});

test.each([
  ['the reward alone trains', ['--method', 'binary-rl'], ['drop', 'rl']],
  ['the teacher alone trains', ['--method', 'opd'], ['drop', 'opd']],
  ['nothing trains', ['--method', 'none'], ['drop']],
  ['old answers are dropped', ['--max-staleness', '0'], ['drop', 'opd', 'opdRl', 'rl']],
])('another setting gives other decisions, with the same bits each time: %s', async (_, args, cases) => {
  const [first, second] = [await replay(...args), await replay(...args)];
  expect(Object.keys(first.after.cases).sort()).toEqual(cases);
  expect(total(first.after.cases)).toBe(TURNS);
  expect(first.changed).toBeGreaterThan(0);
  expect(first.unlikeLedger).toBe(0);
  expect(first.digests.after).not.toBe(first.digests.before);
  expect(second.digests).toEqual(first.digests);
});

test('weights change the advantages and no decision', async () => {
  const [plain, weighted] = [await replay(), await replay('--w-rl', '0.5', '--w-opd', '0')];
  expect(weighted.changed).toBe(0);
  expect(weighted.digests.before).toBe(plain.digests.before);
  expect(weighted.digests.after).not.toBe(plain.digests.after);
  expect(weighted.after.tokens.rl.mean).toBeCloseTo(plain.after.tokens.rl.mean / 2, 12);
});

test('a majority for hints turns those of single votes down', async () => {
  const { before, after, changed } = await replay('--hint-acceptance', 'majority');
  const hinted = ({ cases }: { cases: Record<string, number> }): number => (cases['opd'] ?? 0) + (cases['opdRl'] ?? 0);
  expect(changed).toBeGreaterThan(0);
  expect(hinted(after)).toBeLessThan(hinted(before));
});

test('the filter chooses turns, and the file holds each of them, whole or not at all', async () => {
  const out = join(folder, 'turns.jsonl');
  const { turns } = await replay('--tenant', 'other', '--method', 'opd', '--out', out);
  const lines = readFileSync(out, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { tenant: string });
  expect(lines).toHaveLength(turns);
  expect(turns).toBe(TURNS / 3);
  expect(new Set(lines.map(({ tenant }) => tenant))).toEqual(new Set(['other']));
  expect(readdirSync(folder)).toEqual(['turns.jsonl']);
  expect((await replay('--limit', '7')).turns).toBe(7);
  expect((await replay('--until', '1d')).turns).toBe(0);
});

test('a person reads tables, the changes, a histogram and the digests', async () => {
  const { code, printed } = await run(['replay', '--method', 'opd'], env);
  expect(code).toBe(0);
  for (const part of [
    /^case +before +after$/m,
    /^advantage +before +after$/m,
    /opdRl r=-1 → opd r=0/,
    /digest after {3}[0-9a-f]{64}/,
  ])
    expect(printed).toMatch(part);
});

test('what is wrong is said in a line', async () => {
  expect((await run(['replay', '--method', 'ppo'], env)).code).toBe(2);
  expect((await run(['replay', '--discount', '2'], env)).said).toBe('--discount 2 is not in (0, 1]');
  const nowhere = await run(['replay'], { DATA_DIR: folder });
  expect(nowhere).toMatchObject({ code: 1, said: expect.stringContaining('there is no ledger in') });
});
