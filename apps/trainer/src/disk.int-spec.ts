import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '../../../libs/platform/src/testing/until';
import { runPolicyCommand } from './commands/policy/program';
import { Bench } from './testing/bench';
import { startTrainerProcess, type ProcessLimits, type TrainerProcess } from './testing/trainer-process';
import { writeTinyModel } from './testing/tiny-model';

// A disk without room, for real: the system refuses to make files larger than a limit (EFBIG, as ENOSPC in the middle of a write), which
// the test lifts while the trainer runs; and a file system of a few megabytes, where one may be mounted.

const bench = new Bench();
let folder: string;
let modelDir: string;
let trainer: TrainerProcess | null = null;

/** An adapter of this model takes 40 KiB, its moments 80: a limit between them stops a version in its middle. */
const LIMIT_KIB = 60;
const env = (over: Record<string, string> = {}): Record<string, string> =>
  bench.env({ BACKEND: 'cpu', MODEL_DIR: modelDir, LORA_RANK: '48', LORA_ALPHA: '48', LOG_LEVEL: 'error', ...over });

function start(over: Record<string, string>, limits: ProcessLimits = {}): TrainerProcess {
  trainer = startTrainerProcess(env(over), limits);
  return trainer;
}

const failures = (): Record<string, unknown>[] =>
  (trainer?.stdout() ?? '')
    .split('\n')
    .filter((line) => line.includes('trainer.failed'))
    .map((line) => JSON.parse(line) as Record<string, unknown>);

const temporary = (dir: string): string[] => readdirSync(dir).filter((name) => /^\.v\d/.test(name));

/** The trainer is not to find the folder between two of its attempts, but after one. */
async function failed(times: number): Promise<void> {
  const before = failures().length;
  await until(() => failures().length >= before + times);
}

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'hindcast-disk-'));
  modelDir = await writeTinyModel(join(folder, 'model'));
  await bench.start();
});
afterEach(async () => {
  trainer?.child.kill('SIGKILL');
  await trainer?.ended();
  await bench.stop();
  rmSync(folder, { recursive: true, force: true });
});

// Without prlimit (util-linux) a limit cannot be lifted while a process runs.
const canLimit = spawnSync('prlimit', ['--version']).status === 0;
(canLimit ? it : it.skip)(
  'that fills while a version is written leaves none of it; the step waits, even for a rollback, and is committed once there is room',
  async () => {
    await start({}).ready;
    for (let n = 0; n < 2; n++) await bench.publish();
    await bench.serves(1);
    await until(() => bench.manifests().every(({ state }) => state === 'published'));
    trainer!.child.kill('SIGKILL');
    await trainer!.ended();

    const { child, ready } = start({}, { fileKib: LIMIT_KIB });
    await ready;
    const turnIds = [await bench.publish({ policyVersion: 1 }), await bench.publish({ policyVersion: 1 })];
    await failed(2);
    expect(failures()[0]).toMatchObject({ step: 'checkpoint' });
    expect(JSON.stringify(failures()[0])).toMatch(/no room for the next version.*EFBIG/);
    expect(bench.manifests()).toHaveLength(1);
    expect(temporary(bench.policyDir)).toEqual([]);
    expect((await bench.board())?.version).toBe(1);

    const terminal = {
      env: env(),
      print: () => undefined,
      say: () => undefined,
      width: 120,
      bars: null,
      confirm: async () => true,
    };
    const asked = ['rollback', '0', '--yes', '--policy-dir', bench.policyDir];
    expect(await runPolicyCommand(asked, { ...terminal, confirm: () => Promise.resolve(true) })).toBe(0);
    expect((await bench.board())?.version).toBe(0);

    execFileSync('prlimit', ['--pid', String(child.pid), '--fsize=unlimited']);
    await bench.serves(2);
    // What was computed from version 1 is of no use any more: the step was taken again.
    expect(bench.manifests()[1]).toMatchObject({ version: 2, parent: 0, turnIds });
    await until(async () => (await bench.unacknowledged()) === 0);
  },
  120_000,
);

// Mounting takes root, and a container that allows it.
const canMount = process.platform === 'linux' && process.getuid?.() === 0 && mounts();
(canMount ? it : it.skip)(
  'that has no room for a version refuses the step before it is computed, and loses nothing',
  async () => {
    const disk = join(folder, 'disk');
    mkdirSync(disk);
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=12m', 'tmpfs', disk]);
    try {
      writeFileSync(join(disk, 'somebody-elses'), Buffer.alloc(8 * 2 ** 20));
      const policyDir = join(disk, 'policies');
      await start({ POLICY_DIR: policyDir }).ready;
      await bench.publish();
      await bench.publish();
      await failed(1);
      expect(failures()[0]).toMatchObject({ step: 'step' });
      expect(JSON.stringify(failures()[0])).toMatch(/\d+ MiB are needed and \d+ MiB are free/);
      expect(readdirSync(policyDir).filter((name) => /v\d/.test(name))).toEqual([]);
      rmSync(join(disk, 'somebody-elses'));
      await bench.serves(1);
      expect(statfsSync(disk).bavail).toBeGreaterThan(0);
      trainer!.child.kill('SIGKILL');
      await trainer!.ended();
    } finally {
      execFileSync('umount', [disk]);
    }
  },
);

/** Not every container may mount. */
function mounts(): boolean {
  const dir = mkdtempSync(join(tmpdir(), 'hindcast-mount-'));
  const isMounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', dir]).status === 0;
  if (isMounted) execFileSync('umount', [dir]);
  rmSync(dir, { recursive: true, force: true });
  return isMounted;
}
