import { join } from 'node:path';
import { encodeIds, encodeLogProbs } from '@hindcast/contracts';
import { readPeftAdapter } from '@hindcast/language-model';
import type { RunningService } from '@hindcast/platform';
import { until } from '../../../libs/platform/src/testing/until';
import { Bench } from './testing/bench';
import type { StepRecord } from './core/step-record';
import { TestTrainers } from './testing/test-trainers';

const bench = new Bench();
const trainers = new TestTrainers(bench);
const start = (env?: Record<string, string>): Promise<RunningService> => trainers.start(env);

beforeEach(() => bench.start());
afterEach(async () => {
  await trainers.closeAll();
  await bench.stop();
});

describe('a batch', () => {
  it('becomes a version: trained, committed, acknowledged, loaded, flipped, announced', async () => {
    await start();
    await bench.serves(0);
    expect(await bench.settings()).toMatchObject({ batchSize: 2, backend: 'onnx', wRl: 1, wOpd: 1 });

    const turnIds = [await bench.publish(), await bench.publish({ reward: -1, evalScore: -1 })];
    await bench.serves(1);
    await until(async () => (await bench.stored('policyUpdated')).length === 1);
    await until(async () => (await bench.unacknowledged()) === 0);

    expect(await bench.board()).toMatchObject({
      version: 1,
      adapter: 'hindcast-v000001',
      engines: [bench.engine.baseUrl],
    });
    expect(bench.engine.adapters.get('hindcast-v000001')).toBe(join(bench.policyDir, 'v000001'));
    const [manifest] = bench.manifests();
    expect(manifest).toMatchObject({ version: 1, parent: 0, state: 'published', turnIds });
    const [update] = await bench.stored('policyUpdated');
    expect(update!.body).toMatchObject({
      version: 1,
      parent: 0,
      state: 'published',
      turnIds,
      metrics: manifest!.metrics,
    });
    const adapter = await readPeftAdapter(join(bench.policyDir, 'v000001'));
    expect(adapter).toMatchObject({ rank: 2, alpha: 4 });
    expect([...adapter.tensors].some(([name, { data }]) => /lora_B/.test(name) && data.some((x) => x !== 0))).toBe(
      true,
    );

    const more = [await bench.publish({ policyVersion: 1 }), await bench.publish({ policyVersion: 1 })];
    await bench.serves(2);
    expect(bench.manifests()[1]).toMatchObject({ version: 2, parent: 1, turnIds: more });
    expect(bench.engine.loads).toEqual(['hindcast-v000001', 'hindcast-v000002']);
  });

  it('is recorded with every number: +0.1 in the teacher of one token is +0.1·w_opd in its advantage', async () => {
    await start({ W_OPD: '1.5' });
    const teacher = (first: number) => ({
      case: 'opdRl' as const,
      teacherModel: 'seed',
      hint: 'a hint that was long enough',
      teacherLogProbs: encodeLogProbs([first, -10, -10]),
    });
    const turnIds = [await bench.publish(teacher(-8)), await bench.publish(teacher(-8 + 0.1))];
    await bench.serves(1);
    const { samples, weights } = bench.json('v000001', 'step.json') as StepRecord;
    expect(weights).toEqual({ rl: 1, opd: 1.5 });
    expect(samples.map((sample) => sample.turnId)).toEqual(turnIds);
    const [plain, shifted] = samples;
    expect(shifted!.advantages[0]! - plain!.advantages[0]!).toBeCloseTo(0.15, 6);
    expect(shifted!.advantages.slice(1)).toEqual(plain!.advantages.slice(1));
    expect(plain!.advantages[1]).toBe(1);
    expect(plain!.advantages[2]).toBe(2.5);
  });

  it('starts with fewer samples once the oldest has waited long enough', async () => {
    await start({ BATCH_SIZE: '16', BATCH_MIN: '1', BATCH_MAX_WAIT_SECONDS: '0' });
    await bench.publish();
    await bench.serves(1);
    expect(bench.manifests()[0]!.turnIds).toHaveLength(1);
  });

  it('never starts with METHOD=none: samples stay with the broker', async () => {
    await start({ METHOD: 'none' });
    await bench.publish();
    await bench.publish();
    await until(async () => (await bench.unacknowledged()) === 2);
    expect(bench.manifests()).toEqual([]);
  });
});

describe('a turn', () => {
  it('that was trained is acknowledged and skipped when it comes again', async () => {
    await start();
    const turnIds = [await bench.publish(), await bench.publish()];
    await bench.serves(1);
    for (const turnId of turnIds) await bench.publish({}, turnId, '.again');
    await until(async () => (await bench.unacknowledged()) === 0);
    expect(bench.manifests()).toHaveLength(1);
  });

  it('that comes twice before its step counts once', async () => {
    await start();
    const first = await bench.publish();
    await bench.publish({}, first, '.again');
    const second = await bench.publish();
    await bench.serves(1);
    await until(async () => (await bench.unacknowledged()) === 0);
    expect(bench.manifests().map(({ turnIds }) => turnIds)).toEqual([[first, second]]);
  });

  it.each([
    { reason: 'over-token-budget', over: { promptIds: encodeIds(Array.from({ length: 600 }, () => 80)) } },
    { reason: 'out-of-vocabulary', over: { promptIds: encodeIds([5, 99_999]) } },
  ])('D57: that can never be trained is refused: $reason', async ({ reason, over }) => {
    await start();
    const turnId = await bench.publish(over);
    await until(async () => (await bench.unacknowledged()) === 0);
    const [refused] = await bench.stored('sampleRefused');
    expect(refused).toMatchObject({ turnId, body: { reason, policyVersion: 0 } });
  });

  it('that the policy has outrun is refused at batch start', async () => {
    await start({ MAX_STALENESS: '0' });
    await bench.publish();
    await bench.publish();
    await bench.serves(1);
    const stale = await bench.publish();
    const fresh = [await bench.publish({ policyVersion: 1 }), await bench.publish({ policyVersion: 1 })];
    await bench.serves(2);
    expect(bench.manifests()[1]!.turnIds).toEqual(fresh);
    expect(await bench.stored('sampleRefused')).toMatchObject([
      { turnId: stale, body: { reason: 'stale', policyVersion: 1 } },
    ]);
  });

  it('that makes a step infinite is refused, and the others are trained', async () => {
    await start({ W_OPD: '1e3' });
    const bad = await bench.publish({
      case: 'opdRl',
      teacherModel: 'seed',
      teacherLogProbs: encodeLogProbs([-3e38, -1, -1]),
    });
    const good = [await bench.publish(), await bench.publish()];
    await bench.serves(1);
    await until(async () => (await bench.stored('sampleRefused')).length === 1);
    expect(await bench.stored('sampleRefused')).toMatchObject([{ turnId: bad, body: { reason: 'non-finite' } }]);
    expect(bench.manifests().map(({ turnIds }) => turnIds)).toEqual([good]);
  });
});

it('a second trainer on the same POLICY_DIR is refused', async () => {
  await start();
  await expect(start()).rejects.toThrow(/another trainer \(process \d+ on .*\) works in/);
  await bench.publish();
  await bench.publish();
  await bench.serves(1);
});

it('an emptied POLICY_DIR serves the base model again, and no version number is used twice', async () => {
  const first = await start();
  await bench.publish();
  await bench.publish();
  await bench.serves(1);
  await until(async () => (await bench.unacknowledged()) === 0);
  await trainers.close(first);
  const POLICY_DIR = `${bench.policyDir}-anew`;
  const second = await start({ POLICY_DIR });
  await bench.serves(0);
  await until(() => bench.engine.adapters.size === 0);
  await trainers.close(second);
  await start({ POLICY_DIR });
  await bench.publish();
  await bench.publish();
  await bench.serves(2);
});

it('keeps the learning rate of a success over a restart', async () => {
  const env = { LR_SUCCESS_FACTOR: '0.25', BATCH_SIZE: '10' };
  const service = await start(env);
  for (let i = 0; i < 10; i++) await bench.publish();
  await bench.serves(1);
  await until(async () => (await bench.unacknowledged()) === 0);
  await trainers.close(service);
  await start(env);
  for (let i = 0; i < 10; i++) await bench.publish({ policyVersion: 1 });
  await bench.serves(2);
  const [first, second] = bench.manifests();
  expect(first!.metrics['learning_rate']).toBe(0.005);
  expect(second!.metrics['learning_rate']).toBe(0.00125);
});
