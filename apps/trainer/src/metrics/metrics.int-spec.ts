import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RunningService } from '@hindcast/platform';
import { until } from '../../../../libs/platform/src/testing/until';
import { startTrainer } from '../service';
import { Bench } from '../testing/bench';
import { shownSteps } from '../testing/shown-steps';
import { SHORT_TIMING } from '../testing/timing';
import { startTrainerProcess, type TrainerProcess } from '../testing/trainer-process';

// A crash test starts the process twice, which takes long where many tests run.
jest.setTimeout(120_000);

const bench = new Bench();
const running: RunningService[] = [];
const processes: TrainerProcess[] = [];

beforeEach(() => bench.start());
afterEach(async () => {
  await Promise.all(running.splice(0).map((service) => service.close()));
  for (const { child } of processes.splice(0)) child.kill('SIGKILL');
  await bench.stop();
});

const start = async (env: Record<string, string> = {}): Promise<RunningService> => {
  const service = await startTrainer(bench.config(env), { timing: SHORT_TIMING, announce: () => undefined });
  running.push(service);
  return service;
};
const startProcess = (env: Record<string, string> = {}): TrainerProcess => {
  const trainer = startTrainerProcess(bench.env(env));
  processes.push(trainer);
  return trainer;
};
const batch = async (policyVersion = 0): Promise<void> => {
  for (let i = 0; i < 2; i++) await bench.publish({ policyVersion });
};
const lines = (): Record<string, unknown>[] =>
  readFileSync(join(bench.policyDir, 'metrics.jsonl'), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
const tensorboardSteps = (): number[] => shownSteps(join(bench.policyDir, 'tensorboard'));

it('a step is on the manifest, in metrics.jsonl, in TensorBoard and on /metrics with the same numbers', async () => {
  const { port } = await start();
  await batch();
  await bench.serves(1);
  await until(() => bench.manifests()[0]?.state === 'published');
  const [manifest] = bench.manifests();
  const { version, parent, time, ...numbers } = lines()[0]!;
  expect({ version, parent, time }).toEqual({ version: 1, parent: 0, time: new Date(manifest!.at).toISOString() });
  expect(manifest!.metrics).toMatchObject(numbers);
  expect(numbers).toMatchObject({ samples: 2, 'samples/rl': 2, reward_mean: 1, staleness_max: 0 });
  expect(tensorboardSteps()).toEqual([1]);
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  expect(text).toContain(`hindcast_trainer_step_grad_norm{app="trainer"} ${String(numbers['grad_norm'])}`);
  expect(text).toContain('hindcast_trainer_steps_total{app="trainer"} 1');
});

it('a crash between commit and report leaves no step out and shows none twice', async () => {
  const first = startProcess({ CRASH_AT: 'after-rename' });
  await first.ready;
  await batch();
  expect(await first.ended()).toBe('SIGKILL');
  expect(bench.manifests()).toHaveLength(1);
  await startProcess().ready;
  await bench.serves(1);
  await batch(1);
  await bench.serves(2);
  await until(() => lines().length === 2);
  expect(lines().map(({ version }) => version)).toEqual([1, 2]);
  await until(() => tensorboardSteps().length === 2);
});

it('a folder that cannot be written to stops no step', async () => {
  const file = `${bench.policyDir}-file`;
  writeFileSync(file, '');
  const { port } = await start({ TENSORBOARD_DIR: join(file, 'events') });
  await batch();
  await bench.serves(1);
  await until(async () => (await bench.unacknowledged()) === 0);
  expect(lines()).toHaveLength(1);
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  expect(text).toMatch(/metric_sink_failures_total\{sink="tensorboard".*\} 2/);
});

it('TENSORBOARD_DIR=off writes no events', async () => {
  await start({ TENSORBOARD_DIR: 'off' });
  await batch();
  await bench.serves(1);
  expect(readdirSync(bench.policyDir)).not.toContain('tensorboard');
});
