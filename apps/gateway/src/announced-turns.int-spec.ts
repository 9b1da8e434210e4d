import { startNatsServer, type NatsServer } from '../../../libs/platform/src/testing/nats-server';
import { AnnouncedTurns } from './announced-turns';
import type { OpenTurn } from './core/open-turn';
import { ask, connected } from './testing/chat-request';
import { FakeEngine } from './testing/fake-engine';
import { BusReader, eventually, startTestGateway, userSays, type RunningGateway } from './testing/gateway-harness';

describe('which turns are announced', () => {
  let nats: NatsServer;
  let engine: FakeEngine;
  let bus: BusReader;
  let opener: RunningGateway;
  let other: RunningGateway;

  beforeAll(async () => {
    nats = await startNatsServer();
    engine = await FakeEngine.start();
    const env = { NATS_URL: nats.url, POLICY_BASE_URL: engine.url };
    [opener, other] = await Promise.all([startTestGateway(env), startTestGateway(env)]);
    bus = await BusReader.connect(nats.url);
    await eventually(() => connected(opener));
    await eventually(() => connected(other));
  });
  afterAll(async () => {
    await Promise.all([opener.stop(), other.stop()]);
    await bus.close();
    await engine.stop();
    await nats.stop();
  });

  const found = async (turnId: string): Promise<{ key: string; revision: number; turn: OpenTurn }> => {
    const bucket = await bus.bucket('openTurns');
    for (const key of await bus.openKeys()) {
      const entry = (await bucket.get(key))!;
      const turn = entry.json<OpenTurn[]>().find((open) => open.turnId === turnId);
      if (turn) return { key, revision: entry.revision, turn };
    }
    throw new Error(`${turnId} is not open`);
  };
  const recordOf = async (turnId: string): Promise<OpenTurn> => (await found(turnId)).turn;
  const knows = (gateway: RunningGateway, turn: OpenTurn): Promise<boolean> =>
    gateway.service.app.get(AnnouncedTurns).isAnnounced(turn);

  it('is said by the gateway that opened them, once they are, without a mark in their records', async () => {
    const turnId = await ask(opener, userSays('one'));
    await bus.messageOf('turnCaptured', turnId);
    const turn = await recordOf(turnId);
    await eventually(() => knows(opener, turn));
    await eventually(() => knows(other, turn));
    expect((await recordOf(turnId)).announced).toBe(false);
    const { gateway, number } = turn.opening!;
    const later = { ...turn, opening: { gateway, number: number + 1 } };
    expect([await knows(opener, later), await knows(other, later)]).toEqual([false, false]);
  });

  it('is known of what follows one that could not be opened', async () => {
    const turns = opener.service.app.get(AnnouncedTurns);
    const lost = turns.opening();
    turns.failed(lost);
    const turn = await recordOf(await ask(opener, userSays('two')));
    await eventually(() => knows(other, turn));
    const never = { ...turn, opening: lost };
    expect([await knows(opener, never), await knows(other, never)]).toEqual([false, false]);
  });

  it.each<{ whose: string; opening: OpenTurn['opening'] }>([
    { whose: 'an older gateway, which numbers none', opening: undefined },
    { whose: 'a run whose number nobody kept', opening: { gateway: 'e51d2a3c', number: 1 } },
  ])('is marked by a sweep, once, of $whose', async ({ whose, opening }) => {
    const turnId = await ask(opener, userSays(whose));
    await bus.messageOf('turnCaptured', turnId);
    const { key, revision, turn } = await found(turnId);
    const bucket = await bus.bucket('openTurns');
    await bucket.update(key, JSON.stringify([{ ...turn, opening }]), revision);
    await eventually(async () => (await bucket.get(key))!.json<OpenTurn[]>()[0]!.announced);
    await ask(opener, userSays(whose, 'Hello', 'and then?'));
    await bus.messageOf('turnPaired', turnId);
    expect((await bus.messages('turnCaptured')).filter((message) => message.turnId === turnId)).toHaveLength(1);
  });

  it('is known after the gateway is gone, of all that it opened', async () => {
    const gone = await startTestGateway({ NATS_URL: nats.url, POLICY_BASE_URL: engine.url });
    await eventually(() => connected(gone));
    const turn = await recordOf(await ask(gone, userSays('three')));
    await gone.stop();
    expect(await knows(other, turn)).toBe(true);
  });
});
