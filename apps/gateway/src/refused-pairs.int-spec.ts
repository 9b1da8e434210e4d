import { randomUUID } from 'node:crypto';
import { startNatsServer, type NatsServer } from '../../../libs/platform/src/testing/nats-server';
import { AnnouncedTurns } from './announced-turns';
import type { Ending, OpenTurn } from './core/open-turn';
import { FakeEngine } from './testing/fake-engine';
import { BusReader, eventually, startTestGateway, userSays, type RunningGateway } from './testing/gateway-harness';

const FAILED = { reason: 'failed', detail: 'its pair is none that the bus takes' };

/** A record of an open turn as a gateway leaves it. */
function record(ending: Ending | null, captured: object = {}, announced = true): OpenTurn {
  const turnId = randomUUID();
  const said = {
    responseId: turnId,
    sessionId: null,
    policyVersion: 0,
    model: 'seed',
    promptTokens: 1,
    completionTokens: 1,
    finishReason: 'stop',
    untrainable: null,
    userId: null,
    outcomePending: false,
    ...captured,
  };
  const known = { turnId, tenant: 'default', sessionId: null, context: 'none', openedAt: Date.now() };
  return { ...known, captured: said as OpenTurn['captured'], announced, ending };
}
const paired = (fields: object = {}): Ending => {
  const texts = {
    conversation: [],
    answer: 'Hello',
    nextState: [{ role: 'user' as const, text: 'No.', toolName: null }],
  };
  const body = { responseId: 'r', sessionId: null, policyVersion: 0, ...texts, truncated: false };
  return { kind: 'paired', at: 1, by: 'x', body: { ...body, outcomePending: false, groundTruth: null, ...fields } };
};

describe('what the bus can never take', () => {
  let nats: NatsServer;
  let engine: FakeEngine;
  let gateway: RunningGateway;
  let bus: BusReader;

  const start = async (env: Record<string, string> = {}): Promise<void> => {
    nats = await startNatsServer();
    engine = await FakeEngine.start();
    gateway = await startTestGateway({ NATS_URL: nats.url, POLICY_BASE_URL: engine.url, ...env });
    bus = await BusReader.connect(nats.url);
    await eventually(async () => (await (await fetch(`${gateway.url}/readyz`)).text()).includes('"degraded":[]'));
    // The bucket is made once the gateway is connected.
    await eventually(() => bus.openKeys());
  };
  /** What a sweep finds counts as settled after a second; no turn stays open for longer. */
  const SWEPT = { OPEN_TURN_TTL_SECONDS: '1' };
  afterEach(async () => {
    await gateway.stop();
    await bus.close();
    await engine.stop();
    await nats.stop();
  });

  const leave = async (key: string, ...turns: OpenTurn[]): Promise<void> =>
    void (await (await bus.bucket('openTurns')).put(`turn.${key}`, JSON.stringify(turns)));
  const pairsOf = async (turnId: string): Promise<number> =>
    (await bus.messages('turnPaired')).filter((message) => message.turnId === turnId).length;

  it('a pair that a sweep finds: the turn has failed, once, and its record is gone', async () => {
    await start(SWEPT);
    const turn = record(paired({ groundTruth: 'x'.repeat(10_001) }));
    await leave('refused', turn);
    expect((await bus.messageOf('turnClosed', turn.turnId)).body).toEqual(FAILED);
    await eventually(async () => !(await bus.openKeys()).includes('turn.refused'));
    expect(await pairsOf(turn.turnId)).toBe(0);
    expect((await bus.messages('turnClosed')).filter(({ turnId }) => turnId === turn.turnId)).toHaveLength(1);
  });

  it('a pair of a request: the turn has failed, and the request is served', async () => {
    await start();
    const asked = await gateway.chat({ messages: userSays('so?') });
    await asked.text();
    const turnId = asked.headers.get('x-hindcast-turn-id')!;
    await bus.messageOf('turnCaptured', turnId);
    const turns = await bus.bucket('openTurns');
    const announced = gateway.service.app.get(AnnouncedTurns);
    await eventually(async () => {
      for (const key of await bus.openKeys()) {
        const entry = await turns.get(key);
        const [found] = entry?.json<OpenTurn[]>() ?? [];
        if (found?.turnId !== turnId || !(await announced.isAnnounced(found))) continue;
        const spoilt = { ...found, openedAt: Date.now() + 3_600_000, captured: { ...found.captured, responseId: '' } };
        return turns.update(key, JSON.stringify([spoilt]), entry!.revision);
      }
      return null;
    });
    expect((await gateway.chat({ messages: userSays('so?', 'Hello', 'No.') })).status).toBe(200);
    expect((await bus.messageOf('turnClosed', turnId)).body).toEqual(FAILED);
    expect(await pairsOf(turnId)).toBe(0);
  });

  it('a capture: its record stays as it is, and holds up no other, neither under its key nor after it', async () => {
    await start(SWEPT);
    const refused = record(
      { kind: 'closed', at: 1, by: 'x', body: { reason: 'expired', detail: null } },
      { model: '' },
      false,
    );
    const beside = record(paired());
    const after = record(paired());
    await leave('stays', refused, beside);
    await leave('next', after);
    for (const { turnId } of [beside, after])
      expect((await bus.messageOf('turnPaired', turnId)).body.nextState[0]!.text).toBe('No.');
    await eventually(async () => !(await bus.openKeys()).includes('turn.next'));
    const left = await eventually(async () => {
      const turns = (await (await bus.bucket('openTurns')).get('turn.stays'))!.json<OpenTurn[]>();
      return turns.length === 1 && turns;
    });
    expect(left).toEqual([refused]);
    expect((await bus.messages('turnClosed')).filter(({ turnId }) => turnId === refused.turnId)).toEqual([]);
  });
});
