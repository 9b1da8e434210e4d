import { contracts } from '@hindcast/contracts';
import type { RunningService } from '@hindcast/platform';
import { jetstream } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { until } from '../../../libs/platform/src/testing/until';
import { startTrainer } from './service';
import { Bench } from './testing/bench';
import { judge } from './testing/judgements';
import { SHORT_TIMING } from './testing/timing';

// A new version answers a share of the sessions first; how these turns were judged decides whether it serves them all.

const bench = new Bench();
const running: RunningService[] = [];
const CANARY = { CANARY_SHARE: '0.25', CANARY_MIN_TURNS: '3', CANARY_MAX_DROP: '0.5' };

async function start(env: Record<string, string> = {}): Promise<RunningService> {
  const service = await startTrainer(bench.config({ ...CANARY, ...env }), {
    timing: SHORT_TIMING,
    announce: () => undefined,
  });
  running.push(service);
  return service;
}
const batch = async (policyVersion = 0): Promise<void> => {
  await bench.publish({ policyVersion });
  await bench.publish({ policyVersion });
};
const onTrial = (version: number): Promise<void> =>
  until(async () => (await bench.board())?.canary?.version === version);
const metrics = async (): Promise<string> =>
  await (await fetch(`http://127.0.0.1:${running.at(-1)!.port}/metrics`)).text();

beforeEach(async () => {
  await bench.start();
});
afterEach(async () => {
  await Promise.all(running.splice(0).map((service) => service.close()));
  await bench.stop();
});

it('a version that is judged as well as the one that serves is promoted', async () => {
  await start();
  await batch();
  await onTrial(1);
  expect(await bench.board()).toMatchObject({
    version: 0,
    adapter: null,
    canary: { version: 1, adapter: 'hindcast-v000001', engines: [bench.engine.baseUrl], share: 0.25 },
  });
  expect(bench.manifests()[0]!.state).toBe('committed');
  await judge(bench.nats.url, 0, [1, 0, 1]);
  await judge(bench.nats.url, 1, [1, 1, 0]);
  await bench.serves(1);
  expect((await bench.board())!.canary).toBeNull();
  await until(() => bench.manifests()[0]?.state === 'published');
  expect(await metrics()).toMatch(/trainer_canary_turns\{.*side="canary".*\} 3/);
});

it('one that lowers the mean eval score by more than the bound is rolled back by itself; the next step starts from the stable one', async () => {
  await start();
  await batch();
  await onTrial(1);
  // Abstentions say nothing: with them alone there are not enough turns.
  await judge(bench.nats.url, 1, [null, null, null, -1, -1]);
  await judge(bench.nats.url, 0, [1, 1, 1, 0]);
  await until(async () => /trainer_canary_turns\{.*side="canary".*\} 2/.test(await metrics()));
  expect((await bench.board())!.canary?.version).toBe(1);
  await judge(bench.nats.url, 1, [-1]);
  await until(() => bench.manifests()[0]?.state === 'rolled-back');
  expect(bench.manifests()[0]!.reason).toBe(
    'canary: mean eval score −1.000 over 3 turns, +0.750 over 4 of the version that serves; the bound is 0.5',
  );
  expect(await bench.board()).toMatchObject({ version: 0, canary: null });
  await until(() => bench.engine.adapters.size === 0);
  await until(async () => (await bench.stored('policyUpdated')).length === 1);
  expect((await bench.stored('policyUpdated'))[0]!.body).toMatchObject({ version: 1, state: 'rolled-back' });
  expect(await metrics()).toMatch(/trainer_alarms_total\{.*alarm="canary".*\} 1/);

  await batch();
  await onTrial(2);
  expect(bench.manifests()[1]).toMatchObject({ version: 2, parent: 0 });
});

it('without a single turn by the deadline it is promoted: nothing speaks against it', async () => {
  await start({ CANARY_MAX_WAIT_SECONDS: '0.3' });
  await batch();
  await bench.serves(1);
});

it('a message that is no judgement does not keep the trial from its end', async () => {
  await start();
  await batch();
  await onTrial(1);
  const connection = await connect({ servers: bench.nats.url });
  for (const text of ['no JSON', '', 'null', '{"v":1}'])
    await jetstream(connection).publish(contracts.turnUnhinted.subject, text);
  await connection.close();
  await judge(bench.nats.url, 0, [1, 1, 1]);
  await judge(bench.nats.url, 1, [-1, -1, -1]);
  await until(() => bench.manifests()[0]?.state === 'rolled-back');
});

it('a trainer that restarts goes on with the trial where it was, without a second examination', async () => {
  const first = await start();
  await batch();
  await onTrial(1);
  await judge(bench.nats.url, 0, [1, 1, 1]);
  await judge(bench.nats.url, 1, [-1, -1]);
  const before = (await bench.board())!.canary;
  const probes = bench.engine.samples;
  running.pop();
  await first.close();
  await start();
  await judge(bench.nats.url, 1, [-1]);
  await until(() => bench.manifests()[0]?.state === 'rolled-back');
  expect(before!.version).toBe(1);
  expect(bench.engine.samples).toBe(probes);
});

it('an engine that restarts in a trial gets the version on trial back', async () => {
  await start();
  await batch();
  await onTrial(1);
  await bench.engine.die();
  await bench.engine.start();
  await until(() => bench.engine.adapters.has('hindcast-v000001'));
  expect((await bench.board())!.canary?.version).toBe(1);
});
