import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startNatsServer, type NatsServer } from '../../../libs/platform/src/testing/nats-server';
import { answerOf, FakeEngine } from './testing/fake-engine';
import { BusReader, eventually, userSays } from './testing/gateway-harness';
import { startGatewayProcess, type GatewayProcess } from './testing/gateway-process';

describe('gateways in processes of their own share the open turns', () => {
  let nats: NatsServer;
  let engine: FakeEngine;
  let bus: BusReader;
  let folder: string;
  let a: GatewayProcess;
  let b: GatewayProcess;
  let dying: GatewayProcess;
  const processes: GatewayProcess[] = [];

  const start = async (name: string, env: Record<string, string> = {}): Promise<GatewayProcess> => {
    const gateway = await startGatewayProcess({
      NATS_URL: nats.url,
      POLICY_BASE_URL: engine.url,
      DATA_DIR: join(folder, name),
      SESSION_SECRET: 'a secret of all gateways',
      ...env,
    });
    processes.push(gateway);
    await eventually(async () => (await (await fetch(`${gateway.url}/readyz`)).text()).includes('"degraded":[]'));
    return gateway;
  };
  beforeAll(async () => {
    nats = await startNatsServer();
    engine = await FakeEngine.start();
    bus = await BusReader.connect(nats.url);
    folder = mkdtempSync(join(tmpdir(), 'hindcast-replicas-'));
    [a, b, dying] = await Promise.all([start('a'), start('b'), start('dying', { CRASH_AT: 'after-claim' })]);
  });
  afterAll(async () => {
    for (const { kill } of processes) kill('SIGKILL');
    await Promise.all(processes.map(({ ended }) => ended));
    await bus.close();
    await engine.stop();
    await nats.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  beforeEach(() => {
    engine.script = (call) => engine.answer(call, answerOf('Hello'));
  });

  const post = (to: GatewayProcess, body: object): Promise<Response> =>
    fetch(`${to.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  const ask = async (to: GatewayProcess, messages: object[], extra: object = {}): Promise<string[]> => {
    const response = await post(to, { messages, ...extra });
    expect(response.status).toBe(200);
    await response.text();
    const { headers } = response;
    return (headers.get('x-hindcast-turn-ids') ?? headers.get('x-hindcast-turn-id') ?? '').split(',');
  };
  const pairsOf = async (turnId: string): Promise<number> =>
    (await bus.messages('turnPaired')).filter((message) => message.turnId === turnId).length;

  it('answered by one, continued at the other', async () => {
    for (const [first, second] of [
      [a, b],
      [b, a],
    ] as const) {
      const question = `from ${first.pid}`;
      const [turnId] = await ask(first, userSays(question));
      await ask(second, userSays(question, 'Hello', 'and?'));
      expect((await bus.messageOf('turnPaired', turnId!)).body.nextState[0]!.text).toBe('and?');
    }
  });

  it('continued at both at the same time: exactly one pair for each of twenty turns', async () => {
    const turns = await Promise.all(
      Array.from({ length: 20 }, (_, index) => ask(index % 2 ? a : b, userSays(`both ${index}`))),
    );
    const continuing = turns.flatMap((_, index) =>
      [a, b, a, b].map((to) => ask(to, userSays(`both ${index}`, 'Hello', 'and?'), { turn_type: 'side' })),
    );
    await Promise.all(continuing);
    for (const [turnId] of turns) await bus.messageOf('turnPaired', turnId!);
    expect(await Promise.all(turns.map(([turnId]) => pairsOf(turnId!)))).toEqual(turns.map(() => 1));
  });

  it('one session at both: a retry at the other supersedes, its end at the other closes', async () => {
    const session = { session_id: 'shared' };
    const [first] = await ask(a, userSays('shared'), session);
    const [second] = await ask(b, userSays('shared'), session);
    expect((await bus.messageOf('turnClosed', first!)).body).toEqual({ reason: 'superseded', detail: `by ${second}` });
    await fetch(`${a.url}/v1/sessions/shared/end`, { method: 'POST' });
    expect((await bus.messageOf('turnClosed', second!)).body.reason).toBe('expired');
  });

  it('choices of one response: continued at the other, the rest is superseded', async () => {
    engine.script = (call) => engine.answer(call, { ...answerOf('red'), others: [answerOf('green')] });
    const turns = await ask(a, userSays('colour?'), { n: 2 });
    await ask(b, userSays('colour?', 'green', 'why?'), { turn_type: 'side' });
    await bus.messageOf('turnPaired', turns[1]!);
    expect((await bus.messageOf('turnClosed', turns[0]!)).body.reason).toBe('superseded');
  });

  it('kill -9 of one that had claimed a choice: the other publishes the pair as written and supersedes the rest', async () => {
    engine.script = (call) =>
      engine.answer(call, { ...answerOf('same'), others: [answerOf('same'), answerOf('different')] });
    const turns = await ask(a, userSays('kill?'), { n: 3 });
    await post(dying, { messages: userSays('kill?', 'same', 'written by the dead'), turn_type: 'side' }).catch(
      () => null,
    );
    expect(await dying.ended).toBe('SIGKILL');
    expect(await pairsOf(turns[0]!)).toBe(0);
    // Who comes meanwhile finds nothing open: the pair is decided.
    await ask(b, userSays('kill?', 'same', 'too late'), { turn_type: 'side' });
    expect((await bus.messageOf('turnPaired', turns[0]!)).body.nextState[0]!.text).toBe('written by the dead');
    for (const turnId of turns.slice(1))
      expect((await bus.messageOf('turnClosed', turnId)).body.reason).toBe('superseded');
    expect(await pairsOf(turns[0]!)).toBe(1);
  });
});
