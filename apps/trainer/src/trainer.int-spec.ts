import { join } from 'node:path';
import { encodeIds, encodeLogProbs } from '@hindcast/contracts';
import { readPeftAdapter } from '@hindcast/language-model';
import type { RunningService } from '@hindcast/platform';
import { until } from '../../../libs/platform/src/testing/until';
import { startTrainer } from './service';
import { Bench } from './testing/bench';
import { FakeEngine } from './testing/fake-engine';
import { SHORT_TIMING } from './testing/timing';
import type { StepRecord } from './core/step-record';

const bench = new Bench();
const running: RunningService[] = [];

async function start(env: Record<string, string> = {}): Promise<RunningService> {
  const service = await startTrainer(bench.config(env), { timing: SHORT_TIMING, announce: () => undefined });
  running.push(service);
  return service;
}

beforeEach(async () => {
  await bench.start();
});
afterEach(async () => {
  await Promise.all(running.splice(0).map((service) => service.close()));
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

describe('publication', () => {
  const batch = async (policyVersion = 0): Promise<void> => {
    await bench.publish({ policyVersion });
    await bench.publish({ policyVersion });
  };

  it('D31, D34: a failing load leaves the old version in place and is tried again; each version is loaded once', async () => {
    await start();
    await bench.serves(0);
    bench.engine.loadStatus = 500;
    await batch();
    await until(() => bench.manifests().length === 1);
    await until(async () => (await bench.unacknowledged()) === 0);
    expect((await bench.board())?.version).toBe(0);
    expect(bench.manifests()[0]!.state).toBe('committed');
    bench.engine.loadStatus = null;
    await bench.serves(1);
    expect(bench.engine.loads).toEqual(['hindcast-v000001']);
  });

  it('D34: an engine that dies while it loads: the old version stays, an alarm is raised, the load is tried again', async () => {
    const { port } = await start();
    await bench.serves(0);
    bench.engine.loadGate = new Promise(() => undefined);
    await batch();
    await until(() => bench.engine.loadRequests > 0);
    await bench.engine.die();
    bench.engine.loadGate = Promise.resolve();
    await until(async () => {
      const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
      return /trainer_alarms_total\{.*\} [1-9]/.test(metrics);
    });
    expect((await bench.board())?.version).toBe(0);
    await bench.engine.start();
    await bench.serves(1);
    expect(bench.engine.loads).toEqual(['hindcast-v000001']);
  });

  it('D32: while an engine takes its time to load a version, the old one goes on serving', async () => {
    await start();
    await bench.serves(0);
    let open = (): void => undefined;
    bench.engine.loadGate = new Promise((resolve) => (open = resolve));
    await batch();
    await until(() => bench.engine.loadRequests > 0);
    expect((await bench.board())?.version).toBe(0);
    const chat = { model: 'seed', prompt: [1], max_tokens: 1 };
    const post = { method: 'POST', body: JSON.stringify(chat) };
    expect((await fetch(`${bench.engine.baseUrl}/completions`, post)).status).toBe(200);
    expect((await bench.board())?.version).toBe(0);
    open();
    await bench.serves(1);
    expect(bench.engine.loads).toEqual(['hindcast-v000001']);
  });

  it('D33: a restarted engine gets its adapters back, at most three, the one that serves among them', async () => {
    await start();
    for (let version = 0; version < 4; version++) {
      await batch(version);
      await bench.serves(version + 1);
    }
    const kept = ['hindcast-v000002', 'hindcast-v000003', 'hindcast-v000004'];
    await until(() => bench.engine.adapters.size === 3);
    expect([...bench.engine.adapters.keys()].sort()).toEqual(kept);
    await bench.engine.die();
    await bench.engine.start();
    await until(() => bench.engine.adapters.size === 3);
    expect([...bench.engine.adapters.keys()].sort()).toEqual(kept);
    expect(bench.engine.loads.slice(4)[0]).toBe('hindcast-v000004');
  });

  it('goes on with the engines that are there; one that comes later is brought up to date and listed', async () => {
    const late = await new FakeEngine().start();
    const url = late.baseUrl;
    await late.die();
    await start({ POLICY_BASE_URL: `${bench.engine.baseUrl},${url}` });
    await batch();
    await bench.serves(1);
    expect((await bench.board())?.engines).toEqual([bench.engine.baseUrl]);
    await late.start();
    await until(async () => (await bench.board())?.engines.length === 2);
    expect([...late.adapters.keys()]).toEqual(['hindcast-v000001']);
    await late.die();
  });

  it('refuses a version whose probe is not finite; its turns count as trained, the next step starts from the parent', async () => {
    await start();
    bench.engine.logProb = null;
    await batch();
    await until(() => bench.manifests()[0]?.state === 'refused');
    await until(async () => (await bench.stored('policyUpdated')).length === 1);
    expect((await bench.stored('policyUpdated'))[0]!.body).toMatchObject({ version: 1, state: 'refused' });
    expect((await bench.board())?.version).toBe(0);
    await until(() => bench.engine.adapters.size === 0);
    await until(async () => (await bench.unacknowledged()) === 0);
    bench.engine.logProb = -1;
    await batch();
    await bench.serves(2);
    await until(() => bench.manifests()[1]?.state === 'published');
    expect(bench.manifests()[1]).toMatchObject({ version: 2, parent: 0 });
  });

  it('D59: refuses a version that drifted too far from the base model, in nats per probe answer', async () => {
    await start({ LEARNING_RATE: '0.1', DRIFT_REFUSE_NATS: '3', DRIFT_ALARM_NATS: '1', PROBE_ANSWERS: '3' });
    await batch();
    await until(() => bench.manifests()[0]?.state === 'refused');
    const [manifest] = bench.manifests();
    expect(manifest!.reason).toMatch(/^drift: \d+\.\d+ nats per answer, the bound is 3$/);
    expect(manifest!.metrics['drift_nats']).toBeGreaterThan(3);
    expect((await bench.board())?.version).toBe(0);
  });

  it('lets a version within the bound serve, and says how far it drifted', async () => {
    const env = { LEARNING_RATE: '0.0001', DRIFT_REFUSE_NATS: '3', PROBE_ANSWERS: '3' };
    const first = await start(env);
    await batch();
    await bench.serves(1);
    await until(() => bench.manifests()[0]?.state === 'published');
    const drift = bench.manifests()[0]!.metrics['drift_nats']!;
    expect(drift).toBeGreaterThan(0);
    // Also after a restart, which measures nothing.
    await first.close();
    const { port } = await start(env);
    const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    expect(metrics).toContain(`hindcast_trainer_drift_nats{app="trainer"} ${drift}\n`);
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
  running.pop();
  await first.close();
  const POLICY_DIR = `${bench.policyDir}-anew`;
  const second = await start({ POLICY_DIR });
  await bench.serves(0);
  await until(() => bench.engine.adapters.size === 0);
  running.pop();
  await second.close();
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
  running.splice(running.indexOf(service), 1);
  await service.close();
  await start(env);
  for (let i = 0; i < 10; i++) await bench.publish({ policyVersion: 1 });
  await bench.serves(2);
  const [first, second] = bench.manifests();
  expect(first!.metrics['learning_rate']).toBe(0.005);
  expect(second!.metrics['learning_rate']).toBe(0.00125);
});
