import { startNatsServer, type NatsServer } from '../../../libs/platform/src/testing/nats-server';
import { AnnouncedTurns } from './announced-turns';
import type { SessionTurn } from './core/open-turn';
import { FakeEngine } from './testing/fake-engine';
import { BusReader, eventually, startTestGateway, userSays, type RunningGateway } from './testing/gateway-harness';
import { TurnBook } from './turn-book';

/** More than a list holds. */
const CROWD = 300;
const KEPT = 256;

describe('more than a list or a message can hold', () => {
  let nats: NatsServer;
  let engine: FakeEngine;
  let bus: BusReader;
  let gateway: RunningGateway;

  const start = async (maxPayload?: number): Promise<void> => {
    nats = await startNatsServer(maxPayload === undefined ? {} : { maxPayload });
    bus = await BusReader.connect(nats.url);
    gateway = await startTestGateway({ NATS_URL: nats.url, POLICY_BASE_URL: engine.url });
    await eventually(async () => (await (await fetch(`${gateway.url}/readyz`)).text()).includes('"degraded":[]'));
  };
  beforeEach(async () => {
    engine = await FakeEngine.start();
  });
  afterEach(async () => {
    await gateway.stop();
    await bus.close();
    await nats.stop();
    await engine.stop();
  });

  const ask = async (messages: object[], extra: object = {}): Promise<string> => {
    const response = await gateway.chat({ messages, ...extra });
    await response.text();
    expect(response.status).toBe(200);
    return response.headers.get('x-hindcast-turn-id') ?? '';
  };
  const askMany = async (count: number, of: (index: number) => Promise<string>): Promise<string[]> => {
    const turns: string[] = [];
    while (turns.length < count)
      turns.push(...(await Promise.all(Array.from({ length: 10 }, (_, index) => of(turns.length + index)))));
    return turns;
  };
  const spooled = (): Promise<number> => gateway.metric('spool_operations');
  const listOf = async <T>(kind: string): Promise<T[]> => {
    const key = (await bus.openKeys()).find((found) => found.startsWith(`${kind}.`))!;
    return (await (await bus.bucket('openTurns')).get(key))!.json<T[]>();
  };

  it('one-shot chats that are all the same: the oldest expire, all others go on', async () => {
    await start();
    const turns = await askMany(CROWD, () => ask(userSays('ping')));
    await eventually(async () => (await bus.messages('turnClosed')).length === CROWD - KEPT);
    for (const { body } of await bus.messages('turnClosed'))
      expect(body).toEqual({ reason: 'expired', detail: 'too many open turns of one conversation' });
    await eventually(async () => (await bus.messages('turnCaptured')).length === CROWD);
    await eventually(async () => (await listOf('turn')).length === KEPT);
    await eventually(async () => (await gateway.metric('turns_closed_total', 'expired')) === CROWD - KEPT);
    await eventually(async () => (await spooled()) === 0);
    expect(await gateway.metric('uncaptured_total')).toBe(0);
    // The newest are all still open.
    await ask(userSays('ping', 'Hello', 'and?'));
    await eventually(async () => turns.includes((await bus.messages('turnPaired'))[0]?.turnId ?? ''));
  });

  it('a session without an end: its oldest turns are known by their keys alone', async () => {
    await start();
    const turns = await askMany(CROWD, (index) => ask(userSays(`q${index}`), { session_id: 'my app' }));
    // A capture that took long waits in the spool first.
    await eventually(async () => (await spooled()) === 0);
    const known = await listOf<SessionTurn>('session');
    expect(known).toHaveLength(KEPT);
    const forgotten = turns.findIndex((turnId) => known.every((turn) => turn.turnId !== turnId));
    await ask(userSays(`q${forgotten}`, 'Hello', 'and?'), { session_id: 'my app' });
    await bus.messageOf('turnPaired', turns[forgotten]!);
  });

  it('on a server that takes little: lists stay under it, and a pair that it cannot take is refused, not kept', async () => {
    await start(64 * 1024);
    await askMany(120, () => ask(userSays('ping')));
    await eventually(async () => (await bus.messages('turnClosed')).length > 0);
    const first = await ask(userSays('big?'));
    const long = Array.from({ length: 60 }, (_, index) => ({
      role: 'user',
      content: `${index} ${'long '.repeat(800)}`,
    }));
    await ask([...userSays('big?', 'Hello'), ...long], { turn_type: 'side' });
    const next = await ask(userSays('small?'));
    await ask(userSays('small?', 'Hello', 'and?'));
    await bus.messageOf('turnPaired', next);
    await eventually(async () => (await spooled()) === 0);
    expect(await gateway.metric('operations_refused_total', 'continue')).toBe(1);
    expect((await bus.messages('turnPaired')).map(({ turnId }) => turnId)).not.toContain(first);
  });

  it('a turn that two finish is counted once', async () => {
    await start();
    const turnId = await ask(userSays('twice'));
    const book = gateway.service.app.get(TurnBook);
    const key = (await bus.openKeys()).find((found) => found.startsWith('turn.'))!.slice('turn.'.length);
    await bus.messageOf('turnCaptured', turnId);
    await eventually(async () => gateway.service.app.get(AnnouncedTurns).isAnnounced((await book.turns.read(key))[0]!));
    const body = { reason: 'expired' as const, detail: null };
    const turn = await book.end(
      key,
      (turns) => turns[0] ?? null,
      () => ({ kind: 'closed', at: Date.now(), by: 'test', body }),
    );
    await book.finish(key, turn!);
    expect(await gateway.metric('turns_closed_total')).toBe(1);
  });
});
