import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startNatsServer, type NatsServer } from '../../../libs/platform/src/testing/nats-server';
import { answerOf, FakeEngine } from './testing/fake-engine';
import { BusReader, eventually, startTestGateway, userSays, type RunningGateway } from './testing/gateway-harness';

type Message = Record<string, unknown>;
const system = (content: string): Message => ({ role: 'system', content });
const tool = (name: string): object => ({ type: 'function', function: { name, parameters: {} } });

describe('whose turn a request continues', () => {
  let nats: NatsServer;
  let engine: FakeEngine;
  let gateway: RunningGateway;
  let replica: RunningGateway;
  let bus: BusReader;
  let folder: string;

  beforeAll(async () => {
    nats = await startNatsServer();
    engine = await FakeEngine.start();
    folder = mkdtempSync(join(tmpdir(), 'hindcast-conversations-'));
    const env = { NATS_URL: nats.url, POLICY_BASE_URL: engine.url, SESSION_SECRET: 'a secret of all gateways' };
    [gateway, replica] = await Promise.all([
      startTestGateway(env, join(folder, 'a')),
      startTestGateway(env, join(folder, 'b')),
    ]);
    bus = await BusReader.connect(nats.url);
    for (const { url } of [gateway, replica])
      await eventually(async () => (await (await fetch(`${url}/readyz`)).text()).includes('"degraded":[]'));
  });
  afterAll(async () => {
    await Promise.all([gateway.stop(), replica.stop()]);
    await bus.close();
    await engine.stop();
    await nats.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  beforeEach(() => {
    engine.script = (call) => engine.answer(call, answerOf('Hello'));
  });

  interface Extra {
    readonly session?: string;
    readonly to?: RunningGateway;
    readonly body?: object;
  }
  const ask = async (messages: object[], { session, to = gateway, body = {} }: Extra = {}): Promise<string> => {
    const headers: Record<string, string> = session === undefined ? {} : { 'x-session-id': session };
    const response = await to.chat({ messages, ...body }, headers);
    expect(response.status).toBe(200);
    await response.text();
    return response.headers.get('x-hindcast-turn-id') ?? '';
  };
  const side = { turn_type: 'side' };
  const nextOf = async (turnId: string): Promise<string> =>
    (await bus.messageOf('turnPaired', turnId)).body.nextState.map(({ text }) => text).join('|');
  /** Turns that have their pair by the time when one that is made now has its own. */
  const pairedBy = async (marker: string): Promise<(string | null)[]> => {
    const turnId = await ask(userSays(marker));
    await ask(userSays(marker, 'Hello', 'next'), { body: side });
    await bus.messageOf('turnPaired', turnId);
    return (await bus.messages('turnPaired')).map((message) => message.turnId);
  };

  it('regenerate without a session: the answer that is continued is paired, the other stays open', async () => {
    engine.script = (call) => engine.answer(call, answerOf('first try'));
    const first = await ask(userSays('regenerate'));
    engine.script = (call) => engine.answer(call, answerOf('second try'));
    const second = await ask(userSays('regenerate'));
    await ask(userSays('regenerate', 'second try', 'thanks'), { body: side });
    expect(await nextOf(second)).toBe('thanks');
    await ask(userSays('regenerate', 'first try', 'no, this one'), { body: side });
    expect(await nextOf(first)).toBe('no, this one');
  });

  it('regenerate with a session: the first answer is superseded at once', async () => {
    const session = 'regenerate';
    const first = await ask(userSays('again'), { session });
    engine.script = (call) => engine.answer(call, answerOf('other words'));
    const second = await ask(userSays('again'), { session });
    expect((await bus.messageOf('turnClosed', first)).body).toEqual({ reason: 'superseded', detail: `by ${second}` });
    await ask(userSays('again', 'other words', 'good'), { session, body: side });
    expect(await nextOf(second)).toBe('good');
  });

  it('a retry of the request that continues: the pair is made once, and stays', async () => {
    const turnId = await ask(userSays('retried'));
    for (let attempt = 0; attempt < 3; attempt++) await ask(userSays('retried', 'Hello', 'next'), { body: side });
    expect((await pairedBy('retried marker')).filter((paired) => paired === turnId)).toHaveLength(1);
  });

  it('a branch: an edited earlier message makes a turn of its own, the old one stays open and can still be continued', async () => {
    const root = await ask(userSays('branch root'));
    const old = await ask(userSays('branch root', 'Hello', 'left'));
    expect(await nextOf(root)).toBe('left');
    const edited = await ask(userSays('branch root', 'Hello', 'right'));
    await ask(userSays('branch root', 'Hello', 'right', 'Hello', 'on the right'), { body: side });
    expect(await nextOf(edited)).toBe('on the right');
    expect(await pairedBy('branch marker')).not.toContain(old);
    await ask(userSays('branch root', 'Hello', 'left', 'Hello', 'on the left'), { body: side });
    expect(await nextOf(old)).toBe('on the left');
  });

  it('D2 two clients with the same first message and another answer each keep their own', async () => {
    engine.script = (call) => engine.answer(call, answerOf('for A'));
    const a = await ask(userSays('hi there'));
    engine.script = (call) => engine.answer(call, answerOf('for B'));
    const b = await ask(userSays('hi there'));
    await ask(userSays('hi there', 'for B', 'says B'), { body: side });
    await ask(userSays('hi there', 'for A', 'says A'), { body: side });
    expect([await nextOf(a), await nextOf(b)]).toEqual(['says A', 'says B']);
  });

  it('D2 two clients with the same first message and the same answer: each turn gets one of the two, none gets both', async () => {
    const turns = [await ask(userSays('hi all')), await ask(userSays('hi all'))];
    await ask(userSays('hi all', 'Hello', 'says B'), { body: side });
    await ask(userSays('hi all', 'Hello', 'says A'), { body: side });
    expect((await Promise.all(turns.map(nextOf))).sort()).toEqual(['says A', 'says B']);
  });

  it('D2 a retry of what one client said next does not take the turn of its twin', async () => {
    const turns = [await ask(userSays('hi twins')), await ask(userSays('hi twins'))];
    for (let attempt = 0; attempt < 3; attempt++)
      await ask(userSays('hi twins', 'Hello', 'says A'), { body: side, to: attempt === 1 ? replica : gateway });
    await ask(userSays('hi twins', 'Hello', 'says B'), { body: side });
    expect(await Promise.all(turns.map(nextOf))).toEqual(['says A', 'says B']);
  });

  it('D2 a client whose turn is continued, or was never captured, takes nothing of a client in another context', async () => {
    const a = await ask([system('I am A'), ...userSays('hi contexts')]);
    const inSession = await ask(userSays('hi contexts'), { session: 'somebody' });
    // B's own answer is no turn.
    await ask(userSays('hi contexts'), { body: side });
    await ask(userSays('hi contexts', 'Hello', 'says B'), { body: side });
    await ask(userSays('hi contexts', 'Hello', 'B branches'), { body: side });
    const paired = await pairedBy('contexts marker');
    expect([a, inSession].filter((turnId) => paired.includes(turnId))).toEqual([]);
    await ask([system('I am A'), ...userSays('hi contexts', 'Hello', 'says A')], { body: side });
    expect(await nextOf(a)).toBe('says A');
  });

  it('a system message that changes from turn to turn, as with the time in it, does not matter', async () => {
    const turnId = await ask([system('It is 10:01.'), ...userSays('what time?')]);
    await ask([system('It is 10:02.'), ...userSays('what time?', 'Hello', 'thanks')], { body: side });
    expect(await nextOf(turnId)).toBe('thanks');
  });

  it.each([
    { how: 'a system message', a: { before: [system('I am A')] }, b: { before: [system('I am B')] } },
    { how: 'tools', a: { body: { tools: [tool('a')] } }, b: { body: { tools: [tool('b')] } } },
    { how: 'the user that they name', a: { body: { user: 'a' } }, b: { body: { user: 'b' } } },
    { how: 'a session', a: { session: 'client a' }, b: { session: 'client b' } },
  ] as { how: string; a: Extra & { before?: Message[] }; b: Extra & { before?: Message[] } }[])(
    'D2 two clients with the same first message and answer that differ by $how each keep their own',
    async ({ how, a, b }) => {
      const say = ({ before = [], ...extra }: typeof a, ...texts: string[]): Promise<string> =>
        ask([...before, ...userSays(`hello by ${how}`, ...texts)], extra);
      const [first, second] = [await say(a), await say(b)];
      await say(b, 'Hello', 'says B');
      await say(a, 'Hello', 'says A');
      expect([await nextOf(first), await nextOf(second)]).toEqual(['says A', 'says B']);
    },
  );

  it('parallel sub-agents of one session with the same message do not supersede each other, and keep their own next states', async () => {
    const session = 'sub-agents';
    const agents = [
      { before: [system('You search.')], body: {} },
      { before: [system('You write.')], body: {} },
      { before: [system('You write.')], body: { tools: [tool('write')] } },
      { before: [{ role: 'developer', content: 'You write.' }], body: {} },
    ];
    const turns = await Promise.all(
      agents.map(({ before, body }) => ask([...before, ...userSays('go')], { session, body })),
    );
    const closed = (await bus.messages('turnClosed')).map(({ turnId }) => turnId);
    expect(turns.filter((turnId) => closed.includes(turnId))).toEqual([]);
    // In the other order, so that the oldest is not the right one by chance.
    for (const index of [3, 2, 1, 0]) {
      const { before, body } = agents[index]!;
      await ask([...before, ...userSays('go', 'Hello', `to agent ${index}`)], { session, body });
    }
    expect(await Promise.all(turns.map(nextOf))).toEqual([0, 1, 2, 3].map((index) => `to agent ${index}`));
    expect((await bus.messages('turnClosed')).map(({ turnId }) => turnId)).not.toContain(turns[0]);
  });

  describe('a history that was compacted or edited', () => {
    const long = (name: string): Message[] => [
      system('You help.'),
      ...(userSays(`${name} one`, 'Hello', `${name} two`, 'Hello', `${name} three`) as Message[]),
    ];
    const rest = (name: string, next: string): Message[] => userSays(`${name} three`, 'Hello', next) as Message[];

    it.each([
      {
        why: 'the head is a summary',
        request: (n: string) => [system('You help.'), ...userSays('Summary: …', 'I see.'), ...rest(n, 'next')],
      },
      { why: 'the head is gone', request: (n: string) => [system('You help.'), ...rest(n, 'next')] },
      {
        why: 'the summary is in the system message',
        request: (n: string) => [system('You help. So far: …'), ...rest(n, 'next')],
      },
      {
        why: 'an old message was cleared',
        request: (n: string) => [
          ...long(n).map((m, i) => (i === 1 ? { ...m, content: '[cleared]' } : m)),
          ...rest(n, 'next').slice(1),
        ],
      },
    ])('with a session, $why: paired by the answer and what it answers', async ({ why, request }) => {
      const session = `compacted ${why}`;
      const turnId = await ask(long(why), { session });
      await ask(request(why), { session, to: replica, body: side });
      expect(await nextOf(turnId)).toBe('next');
    });

    it('with a session, the answer stands up to four answers back', async () => {
      const session = 'four back';
      const turnId = await ask(long(session), { session });
      const more = userSays('a', 'b', 'c', 'd', 'e', 'f', 'next').slice(1);
      await ask([system('You help.'), ...userSays('four back three', 'Hello', 'a'), ...more], { session, body: side });
      expect(await nextOf(turnId)).toContain('next');
    });

    it('without a session it pairs nothing; the turn expires with its reason', async () => {
      const brief = await startTestGateway({
        NATS_URL: nats.url,
        POLICY_BASE_URL: engine.url,
        OPEN_TURN_TTL_SECONDS: '2',
      });
      await eventually(async () => (await (await fetch(`${brief.url}/readyz`)).text()).includes('"degraded":[]'));
      const turnId = await ask(long('no session'), { to: brief });
      await ask([system('You help.'), ...rest('no session', 'next')], { to: brief, body: side });
      expect((await bus.messageOf('turnClosed', turnId)).body.reason).toBe('expired');
      expect((await bus.messages('turnPaired')).map((message) => message.turnId)).not.toContain(turnId);
      await brief.stop();
    });

    it('a turn of another session is never meant', async () => {
      const turnId = await ask(long('mine'), { session: 'mine' });
      await ask([system('You help.'), ...rest('mine', 'next')], { session: 'yours', body: side });
      expect(await pairedBy('session marker')).not.toContain(turnId);
    });

    it.each([
      { where: 'its own gateway', isElsewhere: false },
      { where: 'another gateway', isElsewhere: true },
    ])('a retry at $where never reaches into a sub-agent with the same exchange', async ({ where, isElsewhere }) => {
      const session = `sub-agent exchange at ${where}`;
      const to = isElsewhere ? replica : gateway;
      const main = [system('You help.'), ...userSays('go on')];
      const first = await ask(main, { session });
      const next = [...main, ...userSays('x', 'Hello', 'thanks').slice(1)];
      await ask(next, { session, body: side });
      expect(await nextOf(first)).toBe('thanks');
      // The same exchange, later in a conversation of its own.
      const agent = [system('You help.'), ...userSays('task', 'done', 'go on')];
      const agentTurn = await ask(agent, { session });
      await ask(next, { session, to, body: side });
      // So does a branch of it, and what follows an answer that no gateway captured.
      await ask([...main, ...userSays('x', 'Hello', 'or rather').slice(1)], { session, to, body: side });
      await ask([system('You help.'), ...userSays('again', 'done', 'go on')], { session, body: side });
      await ask([system('You help.'), ...userSays('again', 'done', 'go on', 'Hello', 'and?')], {
        session,
        to,
        body: side,
      });
      expect(await pairedBy(`${where} marker`)).not.toContain(agentTurn);
      await ask([...agent, ...userSays('x', 'Hello', 'to the agent').slice(1)], { session, body: side });
      expect(await nextOf(agentTurn)).toBe('to the agent');
    });

    it('two turns of the session that could be meant: neither is', async () => {
      const session = 'ambiguous';
      const turns = [];
      for (const task of ['one', 'two'])
        turns.push(await ask([system('You help.'), ...userSays(task, 'done', 'go on')], { session }));
      await ask([system('You help.'), ...userSays('go on', 'Hello', 'next')], { session, body: side });
      const paired = await pairedBy('ambiguous marker');
      expect(turns.filter((turnId) => paired.includes(turnId))).toEqual([]);
    });
  });
});
