import { join } from 'node:path';
import type { RunningService } from '@hindcast/platform';
import { until } from '../../../libs/platform/src/testing/until';
import { labelledVersion } from './core/weights-label';
import { startTrainer } from './service';
import { Bench } from './testing/bench';
import { FakeEngine } from './testing/fake-engine';
import { SEED_MODEL } from './testing/fixtures';
import { judge } from './testing/judgements';
import { SHORT_TIMING } from './testing/timing';

// TUNING=full: a version is a model directory, published to engines that have one set of weights or several.

const bench = new Bench();
const running: RunningService[] = [];
const others: FakeEngine[] = [];

async function start(env: Record<string, string> = {}): Promise<RunningService> {
  const config = bench.config({ TUNING: 'full', LEARNING_RATE: '0.00001', ...env });
  const service = await startTrainer(config, { timing: SHORT_TIMING, announce: () => undefined });
  running.push(service);
  return service;
}
const batch = async (policyVersion = 0): Promise<void> => {
  await bench.publish({ policyVersion });
  await bench.publish({ policyVersion });
};
const folderOf = (version: number): string => join(bench.policyDir, `v00000${version}`);
const versionOf = (engine: FakeEngine): number | null => labelledVersion(engine.weights.label);

afterEach(async () => {
  await Promise.all(running.splice(0).map((service) => service.close()));
  await Promise.all(others.splice(0).map((engine) => engine.die()));
  await bench.stop();
});

describe.each(['vllm', 'sglang'] as const)('an engine with one set of weights, %s', (kind) => {
  beforeEach(() => bench.start(kind));

  it('gets each version in place of the last; the board says that names have no weights of their own', async () => {
    await start({ POLICY_DIALECT: kind });
    await until(async () => (await bench.board())?.weights === 'replaced');
    expect(await bench.board()).toMatchObject({ version: 0, adapter: null });
    expect(bench.engine.loads).toEqual([]);
    await batch();
    await bench.serves(1);
    expect(await bench.board()).toMatchObject({ adapter: null, weights: 'replaced', engines: [bench.engine.baseUrl] });
    expect(versionOf(bench.engine)).toBe(1);
    await batch(1);
    await bench.serves(2);
    expect(bench.engine.loads).toEqual([folderOf(1), folderOf(2)]);
    expect(bench.engine.staleAnswers).toBe(0);
  });

  it('D33, D34 a restarted one is noticed and updated; a failed update leaves the old version and is tried again', async () => {
    await start({ POLICY_DIALECT: kind });
    await batch();
    await bench.serves(1);
    await bench.engine.die();
    await bench.engine.start();
    await until(() => versionOf(bench.engine) === 1);
    bench.engine.failures = 1;
    await batch(1);
    await until(() => bench.engine.failures <= 0);
    await bench.serves(2);
    expect(versionOf(bench.engine)).toBe(2);
  });

  it('is given the old weights back when the version is refused', async () => {
    await start({ POLICY_DIALECT: kind });
    await until(async () => (await bench.board())?.weights === 'replaced');
    bench.engine.logProb = null;
    await batch();
    await until(() => bench.manifests()[0]?.state === 'refused');
    expect(bench.engine.weights.path).toBe(SEED_MODEL);
    expect(versionOf(bench.engine)).toBe(0);
    expect((await bench.board())?.version).toBe(0);
  });
});

describe('two engines with one set of weights each', () => {
  it('one tries the version while the other serves; after a bad trial both serve the old one', async () => {
    await bench.start('vllm');
    const other = await new FakeEngine('vllm').start();
    others.push(other);
    const both = [bench.engine, other];
    await start({
      POLICY_BASE_URL: both.map(({ baseUrl }) => baseUrl).join(','),
      CANARY_SHARE: '0.3',
      CANARY_MIN_TURNS: '2',
    });
    await batch();
    await until(async () => (await bench.board())?.canary?.version === 1);
    expect(await bench.board()).toMatchObject({
      version: 0,
      engines: [other.baseUrl],
      canary: { adapter: null, engines: [bench.engine.baseUrl] },
    });
    expect(both.map(versionOf)).toEqual([1, null]);
    await judge(bench.nats.url, 0, [1, 1]);
    await judge(bench.nats.url, 1, [-1, -1]);
    await until(() => bench.manifests()[0]?.state === 'rolled-back');
    await until(async () => (await bench.board())?.engines.length === 2);
    expect(both.map(versionOf)).toEqual([0, null]);
    expect(bench.engine.weights.path).toBe(SEED_MODEL);
  });
});

it('an engine that names its weights holds versions side by side, as it does adapters', async () => {
  await bench.start('named');
  await start();
  await batch();
  await bench.serves(1);
  expect(await bench.board()).toMatchObject({ adapter: 'hindcast-v000001', weights: 'named' });
  expect([...bench.engine.adapters]).toEqual([['hindcast-v000001', folderOf(1)]]);
  expect(bench.engine.weights.path).toBe('base');
});
