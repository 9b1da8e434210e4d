import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Log, Metrics } from '@hindcast/platform';
import { versionFolder, type Manifest } from '../core/manifest';
import { recordsOf } from '../core/event-file-reading';
import { messageOf } from '../testing/protobuf-reader';
import { manifest } from '../testing/fixtures';
import { shownSteps } from '../testing/shown-steps';
import { StepReporter } from './step-reporter';

let folder: string;
let tensorboardDir: string;
let manifests: Manifest[];
let metrics: Metrics;
let log: Log;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'hindcast-reporter-'));
  tensorboardDir = join(folder, 'tensorboard');
  manifests = [];
  metrics = new Metrics('trainer');
  log = new Log('trainer', 'silent');
  jest.spyOn(log, 'warn');
  jest.spyOn(log, 'info');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** A version as the store has it after its commit. */
function commit(version: number): Manifest {
  const committed = manifest({ version, parent: version - 1, at: 1_700_000_000_000, metrics: { grad_norm: version } });
  manifests.push(committed);
  mkdirSync(join(folder, versionFolder(version)));
  writeFileSync(
    join(folder, versionFolder(version), 'step.json'),
    JSON.stringify({ samples: [{ advantages: [1, 2] }] }),
  );
  return committed;
}

const open = async (dir: string | null = tensorboardDir): Promise<StepReporter> =>
  await StepReporter.open({
    store: { folder, all: () => manifests, folderOf: (version) => join(folder, versionFolder(version)) },
    tensorboardDir: dir,
    metrics,
    log,
  });
const lines = (): number[] =>
  readFileSync(join(folder, 'metrics.jsonl'), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => (JSON.parse(line) as { version: number }).version);
const events = (): Buffer[] =>
  readdirSync(tensorboardDir)
    .sort()
    .map((name) => readFileSync(join(tensorboardDir, name)));
const failures = async (sink: string): Promise<number> => {
  const text = await metrics.scrape();
  return Number(new RegExp(`metric_sink_failures_total\\{sink="${sink}".*\\} (\\d+)`).exec(text)![1]);
};

it('a committed step is in every place, with the advantages of its record as a histogram', async () => {
  const reporter = await open();
  await reporter.committed(commit(1));
  await reporter.committed(commit(2));
  expect(lines()).toEqual([1, 2]);
  expect(shownSteps(tensorboardDir)).toEqual([1, 2]);
  expect(await metrics.scrape()).toMatch(/hindcast_trainer_step_grad_norm\{.*\} 2/);
  const [, , first] = [...recordsOf(events()[0]!)];
  const values = messageOf(first!).messages(5)[0]!.messages(1);
  expect(values.map((value) => value.text(1))).toEqual(['grad_norm', 'advantage']);
  expect(values[1]!.messages(5)[0]!.double(4)).toBe(3);
});

it('a restart makes up for what was committed and not reported, and repeats nothing', async () => {
  await (await open()).committed(commit(1));
  commit(2);
  const reporter = await open();
  expect(lines()).toEqual([1, 2]);
  await reporter.committed(commit(3));
  await open();
  expect(lines()).toEqual([1, 2, 3]);
  expect(shownSteps(tensorboardDir)).toEqual([1, 2, 3]);
});

it('what was deleted is written anew from the manifests', async () => {
  const reporter = await open();
  await reporter.committed(commit(1));
  await reporter.committed(commit(2));
  const text = readFileSync(join(folder, 'metrics.jsonl'), 'utf8');
  rmSync(join(folder, 'metrics.jsonl'));
  rmSync(tensorboardDir, { recursive: true });
  await open();
  expect(readFileSync(join(folder, 'metrics.jsonl'), 'utf8')).toBe(text);
  expect(shownSteps(tensorboardDir)).toEqual([1, 2]);
});

it('without TensorBoard no folder is made', async () => {
  const reporter = await open(null);
  await reporter.committed(commit(1));
  expect(lines()).toEqual([1]);
  expect(readdirSync(folder)).not.toContain('tensorboard');
});

it('a step whose record is damaged has no histogram, and all else', async () => {
  const damaged = commit(1);
  writeFileSync(join(folder, versionFolder(1), 'step.json'), '{');
  await (await open()).committed(damaged);
  const [, , event] = [...recordsOf(events()[0]!)];
  expect(
    messageOf(event!)
      .messages(5)[0]!
      .messages(1)
      .map((value) => value.text(1)),
  ).toEqual(['grad_norm']);
});

it('a place that cannot be written is warned of once and counted; the others get every step; it catches up once it can be written', async () => {
  // A file where a folder should be, and a folder where a file should be.
  writeFileSync(tensorboardDir, '');
  const reporter = await open();
  mkdirSync(join(folder, 'metrics.jsonl'));
  await reporter.committed(commit(1));
  await reporter.committed(commit(2));
  expect(await metrics.scrape()).toMatch(/hindcast_trainer_steps_total\{.*\} 2/);
  expect(await failures('tensorboard')).toBe(3);
  expect(await failures('jsonl')).toBe(2);
  expect(await failures('prometheus')).toBe(0);
  expect(jest.mocked(log.warn).mock.calls.map(([event, fields]) => [event, fields])).toEqual([
    ['metrics.unwritten', { sink: 'tensorboard', error: expect.objectContaining({ code: 'EEXIST' }) }],
    ['metrics.unwritten', { sink: 'jsonl', error: expect.objectContaining({ code: 'EISDIR' }) }],
  ]);

  rmSync(tensorboardDir);
  rmdirSync(join(folder, 'metrics.jsonl'));
  await reporter.committed(commit(3));
  expect(lines()).toEqual([1, 2, 3]);
  expect(shownSteps(tensorboardDir)).toEqual([1, 2, 3]);
  expect(log.info).toHaveBeenCalledTimes(2);
});
