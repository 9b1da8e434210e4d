import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { encodeIds, encodeLogProbs } from '@hindcast/contracts';
import { mulberry32 } from '@hindcast/language-model';
import { until } from '../../../libs/platform/src/testing/until';
import { Bench } from './testing/bench';
import { uuid } from './testing/fixtures';
import { writeTinyModel } from './testing/tiny-model';
import { startTrainerProcess, type TrainerProcess } from './testing/trainer-process';
import { versionFolder, type Manifest } from './core/manifest';

// A run that is killed with SIGKILL at many instants ends with the very bytes of an undisturbed one. Everything that a step draws on
// beside its samples is in play: moments, dropout, several epochs, a schedule, a running balance and baseline.
// What depends on a clock cannot act here: a batch is never due by time (the smallest batch is the whole one), and no sample is stale.

const BATCH = 2;

interface Run {
  readonly name: string;
  readonly steps: number;
  readonly kills: number;
  readonly env: Readonly<Record<string, string>>;
  readonly files: readonly string[];
}

const OPTIMIZER = 'optimizer/optimizer.safetensors';
const RUNS: readonly Run[] = [
  {
    name: 'LoRA, 20 kills in 10 steps',
    steps: 10,
    kills: 20,
    // No graph is compiled at each of the starts.
    env: { BACKEND: 'cpu' },
    files: ['adapter_model.safetensors', OPTIMIZER],
  },
  {
    name: 'full weights, 4 kills in 3 steps',
    steps: 3,
    kills: 4,
    env: { BACKEND: 'cpu', TUNING: 'full' },
    files: ['model.safetensors', OPTIMIZER],
  },
  {
    name: 'LoRA on onnxruntime, 4 kills in 3 steps',
    steps: 3,
    kills: 4,
    env: { BACKEND: 'onnx' },
    files: ['adapter_model.safetensors', OPTIMIZER],
  },
];

const SETTINGS = {
  BATCH_SIZE: String(BATCH),
  BATCH_MIN: String(BATCH),
  BATCH_MAX_WAIT_SECONDS: '1000000',
  MAX_STALENESS: '1000',
  REBUILD_SECONDS: '1000',
  LORA_DROPOUT: '0.1',
  EPOCHS: '2',
  LR_SCHEDULE: 'cosine',
  LR_TOTAL_STEPS: '10',
  LR_WARMUP_STEPS: '2',
  LR_SUCCESS_FACTOR: '0.5',
  BALANCE: 'variance',
  REWARD_BASELINE: '1',
  KL_COEF: '0.1',
  LOG_LEVEL: 'silent',
};

let modelDir: string;
let bench: Bench;
let trainer: TrainerProcess | null = null;

beforeAll(async () => {
  modelDir = await writeTinyModel(mkdtempSync(join(tmpdir(), 'hindcast-tiny-')));
});
afterAll(() => rmSync(modelDir, { recursive: true, force: true }));
beforeEach(async () => {
  bench = new Bench();
  await bench.start();
});
afterEach(async () => {
  trainer?.child.kill('SIGKILL');
  await bench.stop();
});

function start({ env }: Run): TrainerProcess {
  trainer = startTrainerProcess(bench.env({ ...SETTINGS, ...env, MODEL_DIR: modelDir }));
  return trainer;
}

/** Sample n of the run, the same in every run. */
async function publish(n: number): Promise<void> {
  const random = mulberry32(n);
  const id = (): number => 60 + Math.floor(random() * 40);
  const length = 3 + Math.floor(random() * 5);
  const logProbs = (): number[] => Array.from({ length }, () => -1 - 8 * random());
  const taught = { case: 'opdRl', teacherModel: 'seed', hint: 'a hint that was long enough' } as const;
  await bench.publish(
    {
      promptIds: encodeIds([5, 2, id(), id(), 4, 3]),
      responseIds: encodeIds(Array.from({ length }, id)),
      rolloutLogProbs: encodeLogProbs(logProbs()),
      reward: random() < 0.8 ? 1 : -1,
      ...(random() < 0.5 && { ...taught, teacherLogProbs: encodeLogProbs(logProbs()) }),
    },
    uuid(n),
  );
}

/**
 * The files that decide everything later, and what the manifests say of the run; without times, and without the record of a step, which
 * has the places of its samples in the stream.
 */
function remains({ steps, files: names }: Run): { files: Record<string, Buffer>; versions: unknown[] } {
  const folder = join(bench.policyDir, versionFolder(steps));
  const files = Object.fromEntries(names.map((name) => [name, readFileSync(join(folder, name))]));
  const withoutTime = ({ checksums, metrics, at: _at, hyperparameters: _same, ...rest }: Manifest): unknown => ({
    ...rest,
    metrics: Object.entries(metrics).filter(([name]) => !/second|_per_/.test(name)),
    checksums: Object.entries(checksums).filter(([name]) => name !== 'step.json'),
  });
  return { files, versions: bench.manifests().map(withoutTime) };
}

/** What can be seen from outside of version n, in the order in which it happens. */
const PHASES = {
  stepping: () => existsSync(join(bench.policyDir, 'next-batch.json')),
  writing: () => readdirSync(bench.policyDir).some((name) => /^\.v\d+\..*\.tmp$/.test(name)),
  committed: (version) => existsSync(join(bench.policyDir, versionFolder(version))),
  loaded: (version) => bench.engine.adapters.has(`hindcast-${versionFolder(version)}`),
  settled: (version) => bench.manifests().some((manifest) => manifest.version === version && isSettled(manifest)),
} satisfies Record<string, (version: number) => boolean>;

const isSettled = ({ state }: Manifest): boolean => state !== 'committed';

interface Instant {
  readonly version: number;
  readonly phase: keyof typeof PHASES;
  readonly delayMs: number;
}

/** Kills in the course of every version, each some milliseconds after something that was seen of it. */
function instants({ steps, kills }: Run, seed: number): Instant[] {
  const random = mulberry32(seed);
  const phases = Object.keys(PHASES) as (keyof typeof PHASES)[];
  return Array.from({ length: kills }, (_, kill) => ({
    version: 1 + Math.floor((kill * steps) / kills),
    phase: phases[Math.floor(random() * phases.length)]!,
    delayMs: Math.floor(random() * 60),
  }));
}

/** A trainer that ended by itself reaches nothing any more. */
const isRunning = (): boolean => trainer?.child.exitCode === null && trainer.child.signalCode === null;

async function reached({ version, phase }: Instant): Promise<void> {
  // A kill before it may have come so late that this version is settled already.
  while (isRunning() && !PHASES.settled(version) && !(PHASES.committed(version - 1) || version === 1)) await sleep(2);
  while (isRunning() && !PHASES.settled(version) && !PHASES[phase](version)) await sleep(1);
}

/** Until every version is settled and the broker has nothing more to bring. */
async function finished({ steps }: Run): Promise<void> {
  await bench.serves(steps);
  await until(() => bench.manifests().every(isSettled));
  await until(async () => (await bench.unacknowledged()) === 0);
}

it.each(RUNS)(
  'weights, optimizer and batches are those of an undisturbed run: $name',
  async (run) => {
    const samples = run.steps * BATCH;
    await start(run).ready;
    for (let n = 1; n <= samples; n++) await publish(n);
    await finished(run);
    trainer!.child.kill('SIGKILL');
    const undisturbed = remains(run);
    await bench.stop();
    await bench.start();

    await start(run).ready;
    // Samples come while the trainer is dead, too: what it held before comes back later than what it never had.
    let published = 0;
    for (const instant of instants(run, 7)) {
      const wanted = Math.min(samples, instant.version * BATCH + 1);
      for (; published < wanted; published++) await publish(published + 1);
      if (trainer!.child.killed) start(run);
      await reached(instant);
      await sleep(instant.delayMs);
      trainer!.child.kill('SIGKILL');
      expect(await trainer!.ended()).toBe('SIGKILL');
    }
    for (; published < samples; published++) await publish(published + 1);
    await start(run).ready;
    await finished(run);

    const killed = remains(run);
    expect(killed.versions).toEqual(undisturbed.versions);
    for (const [name, bytes] of Object.entries(undisturbed.files))
      expect([name, Buffer.compare(killed.files[name]!, bytes)]).toEqual([name, 0]);
    const turns = bench.manifests().flatMap(({ turnIds }) => turnIds);
    expect(turns).toEqual(Array.from({ length: samples }, (_, i) => uuid(i + 1)));
  },
  900_000,
);
