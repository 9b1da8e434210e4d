import type { RunningService } from '@hindcast/platform';
import { until } from '../../../libs/platform/src/testing/until';
import { Bench } from './testing/bench';
import { FakeEngine } from './testing/fake-engine';
import { TestTrainers } from './testing/test-trainers';

const bench = new Bench();
const trainers = new TestTrainers(bench);
const start = (env?: Record<string, string>): Promise<RunningService> => trainers.start(env);

beforeEach(() => bench.start());
afterEach(async () => {
  await trainers.closeAll();
  await bench.stop();
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
