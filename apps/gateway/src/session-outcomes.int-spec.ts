import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { contracts } from '@hindcast/contracts';
import { sessionIdOf } from '@hindcast/platform';
import { jetstreamManager } from '@nats-io/jetstream';
import { freePort, startNatsServer, type NatsServer } from '../../../libs/platform/src/testing/nats-server';
import { FakeEngine } from './testing/fake-engine';
import { BusReader, eventually, startTestGateway, userSays, type RunningGateway } from './testing/gateway-harness';

const SECRET = 'a secret of all gateways';
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
const idOf = (tenant: string, session: string): string => sessionIdOf(Buffer.from(SECRET), tenant, session);

interface Given {
  readonly status: number;
  readonly body: unknown;
}

async function giveOutcome(to: { url: string }, session: string, body: unknown, key?: string): Promise<Given> {
  const response = await fetch(`${to.url}/v1/sessions/${encodeURIComponent(session)}/outcome`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(key && { authorization: `Bearer ${key}` }) },
    body: JSON.stringify(body),
  });
  return { status: response.status, body: await response.json() };
}

const recorded = (session: string, reward: number): Given => ({
  status: 200,
  body: { session_id: session, reward, status: 'recorded' },
});

/** Asks in a session that waits for its outcome; the answer's turn. */
async function ask(
  to: RunningGateway,
  session: string,
  messages: object[],
  extra: object = {},
  headers: Record<string, string> = {},
): Promise<string> {
  const body = { messages, session_id: session, session_outcome: 'pending', ...extra };
  const response = await to.chat(body, headers);
  expect([response.status, await response.text()]).toEqual([200, expect.anything()]);
  return response.headers.get('x-hindcast-turn-id')!;
}

const isConnected = async (to: { url: string }): Promise<boolean> =>
  (await (await fetch(`${to.url}/readyz`)).text()).includes('"degraded":[]');

describe('session outcomes', () => {
  let nats: NatsServer;
  let engine: FakeEngine;
  let gateway: RunningGateway;
  let replica: RunningGateway;
  let bus: BusReader;

  beforeAll(async () => {
    nats = await startNatsServer();
    engine = await FakeEngine.start();
    const env = {
      NATS_URL: nats.url,
      POLICY_BASE_URL: engine.url,
      SESSION_SECRET: SECRET,
      REDACTION: 'builtin',
      API_KEYS: ['ann', 'eve'].map((name) => `${name}:${sha256(`sk-${name}`)}`).join(','),
    };
    [gateway, replica] = await Promise.all([startTestGateway(env), startTestGateway(env)]);
    bus = await BusReader.connect(nats.url);
    for (const each of [gateway, replica]) await eventually(() => isConnected(each));
  });
  afterAll(async () => {
    await Promise.all([gateway.stop(), replica.stop()]);
    await bus.close();
    await engine.stop();
    await nats.stop();
  });

  const as = (name: string): Record<string, string> => ({ authorization: `Bearer sk-${name}` });
  const outcomesOf = async (tenant: string, session: string): Promise<unknown[]> =>
    (await bus.messages('sessionOutcome'))
      .filter(({ body }) => body.sessionId === idOf(tenant, session))
      .map(({ turnId, tenant: owner, body }) => ({
        turnId,
        tenant: owner,
        reward: body.reward,
        comment: body.comment,
      }));

  const knows = (tenant: string, session: string, count: number): Promise<boolean> =>
    eventually(async () => (await outcomesOf(tenant, session)).length >= count);

  it('pair the last answer with an empty next state; the answers before it have theirs', async () => {
    const first = await ask(gateway, 'task', userSays('go'), {}, as('ann'));
    const last = await ask(gateway, 'task', userSays('go', 'Hello', 'on'), {}, as('ann'));
    expect(await giveOutcome(gateway, 'task', { reward: 0.25, comment: 'half' }, 'sk-ann')).toEqual(
      recorded('task', 0.25),
    );
    expect((await bus.messageOf('turnPaired', first)).body.nextState.map(({ text }) => text)).toEqual(['on']);
    expect((await bus.messageOf('turnPaired', last)).body).toMatchObject({
      answer: 'Hello',
      nextState: [],
      outcomePending: true,
      sessionId: idOf('ann', 'task'),
    });
    await knows('ann', 'task', 1);
    expect(await outcomesOf('ann', 'task')).toEqual([{ turnId: null, tenant: 'ann', reward: 0.25, comment: 'half' }]);
    await eventually(async () => (await bus.openKeys()).length === 0);
  });

  it('are on the bus after the pairs that they decide', async () => {
    const turnId = await ask(gateway, 'order', userSays('which first?'), {}, as('ann'));
    await giveOutcome(gateway, 'order', { reward: 1 }, 'sk-ann');
    await bus.messageOf('turnPaired', turnId);
    await knows('ann', 'order', 1);
    const manager = await jetstreamManager(bus.raw);
    const [paired, outcome] = await Promise.all(
      [contracts.turnPaired, contracts.sessionOutcome].map(({ subject }) =>
        manager.streams.getMessage('RL', { last_by_subj: subject }),
      ),
    );
    expect(paired!.seq).toBeLessThan(outcome!.seq);
  });

  it('given again are one message, through whichever gateway; another outcome is another message', async () => {
    for (const to of [gateway, replica, gateway])
      expect(await giveOutcome(to, 'again', { reward: -1 }, 'sk-ann')).toEqual(recorded('again', -1));
    // One that NATS did not take at once waits at its gateway, and one of another gateway may overtake it.
    await knows('ann', 'again', 1);
    await giveOutcome(replica, 'again', { reward: 1 }, 'sk-ann');
    await knows('ann', 'again', 2);
    await giveOutcome(gateway, 'again', { reward: -1, comment: 'late' }, 'sk-ann');
    await knows('ann', 'again', 3);
    expect(await outcomesOf('ann', 'again')).toMatchObject([
      { reward: -1, comment: null },
      { reward: 1, comment: null },
      { reward: -1, comment: 'late' },
    ]);
  });

  it('pair what another gateway opened, every open answer of the session', async () => {
    const turns = [
      await ask(gateway, 'shared', userSays('one'), {}, as('ann')),
      await ask(replica, 'shared', userSays('two'), {}, as('ann')),
    ];
    await giveOutcome(replica, 'shared', { reward: 1 }, 'sk-ann');
    for (const turnId of turns) expect((await bus.messageOf('turnPaired', turnId)).body.nextState).toEqual([]);
  });

  it('of one tenant touch no session of another that is called the same', async () => {
    const own = await ask(gateway, 'same', userSays('mine'), {}, as('ann'));
    const other = await ask(gateway, 'same', userSays('yours'), {}, as('eve'));
    expect(await giveOutcome(gateway, 'same', { reward: -1 }, 'sk-eve')).toEqual(recorded('same', -1));
    await bus.messageOf('turnPaired', other);
    await knows('eve', 'same', 1);
    expect(await outcomesOf('ann', 'same')).toEqual([]);
    expect(await outcomesOf('eve', 'same')).toHaveLength(1);
    expect((await bus.messages('turnPaired')).filter(({ turnId }) => turnId === own)).toEqual([]);
    await giveOutcome(gateway, 'same', { reward: 1 }, 'sk-ann');
    expect((await bus.messageOf('turnPaired', own)).tenant).toBe('ann');
  });

  it('are kept of sessions that nobody knows, under whatever name', async () => {
    for (const session of ['never/seen?', '京都', ' padded ']) {
      expect(await giveOutcome(gateway, session, { reward: 0 }, 'sk-ann')).toEqual(recorded(session, 0));
      await knows('ann', session.trim(), 1);
      expect(await outcomesOf('ann', session.trim())).toHaveLength(1);
    }
  });

  it('hold no personal data where REDACTION keeps it out', async () => {
    await giveOutcome(gateway, 'redacted', { reward: 1, comment: 'says ann@mail.example.org' }, 'sk-ann');
    await knows('ann', 'redacted', 1);
    expect(await outcomesOf('ann', 'redacted')).toMatchObject([{ comment: 'says [email]' }]);
  });

  const range = 'reward must be a number from -1 to 1';
  it.each([
    { session: 's', body: { reward: 2 }, message: range, param: 'reward' },
    { session: 's', body: { reward: '1' }, message: range, param: 'reward' },
    { session: 's', body: { comment: 'good' }, message: range, param: 'reward' },
    { session: 's', body: [1], message: 'the body must be a JSON object', param: null },
    {
      session: 's',
      body: { reward: 1, comment: 'c'.repeat(10_001) },
      message: 'comment must be a text of at most 10000 characters',
      param: 'comment',
    },
    { session: ' ', body: { reward: 1 }, message: 'a session id is needed', param: 'id' },
  ])('$message: a plain 400, and nothing on the bus', async ({ session, body, message, param }) => {
    const before = (await bus.messages('sessionOutcome')).length;
    expect(await giveOutcome(gateway, session, body, 'sk-ann')).toEqual({
      status: 400,
      body: { error: { message, type: 'invalid_request_error', code: 'invalid-request', param } },
    });
    expect(await bus.messages('sessionOutcome')).toHaveLength(before);
  });

  it('need a key', async () => {
    expect((await giveOutcome(gateway, 's', { reward: 1 })).status).toBe(401);
  });
});

describe('session outcomes without NATS', () => {
  let engine: FakeEngine;
  let folder: string;
  const cleanUp: (() => Promise<unknown>)[] = [];

  beforeEach(async () => {
    engine = await FakeEngine.start();
    folder = mkdtempSync(join(tmpdir(), 'hindcast-outcomes-'));
  });
  afterEach(async () => {
    for (const step of cleanUp.splice(0).reverse()) await step();
    await engine.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const start = async (port: number, env: Record<string, string> = {}): Promise<RunningGateway> => {
    const gateway = await startTestGateway(
      { NATS_URL: `nats://127.0.0.1:${port}`, POLICY_BASE_URL: engine.url, SESSION_SECRET: SECRET, ...env },
      folder,
    );
    cleanUp.push(() => gateway.stop());
    return gateway;
  };
  const startNats = async (port: number): Promise<BusReader> => {
    const nats = await startNatsServer({ port });
    cleanUp.push(() => nats.stop());
    const bus = await BusReader.connect(nats.url);
    cleanUp.push(() => bus.close());
    return bus;
  };
  const outcomes = (bus: BusReader, count: number): Promise<number[]> =>
    eventually(async () => {
      const found = (await bus.messages('sessionOutcome')).map(({ body }) => body.reward);
      return found.length >= count && found;
    });

  it('wait on disk behind the answers of their session, outlive the gateway, and keep their order', async () => {
    const port = await freePort();
    const gateway = await start(port);
    const turnId = await ask(gateway, 'away', userSays('still there?'));
    expect(await giveOutcome(gateway, 'away', { reward: 1 })).toEqual(recorded('away', 1));
    expect(await giveOutcome(gateway, 'away', { reward: -1 })).toEqual(recorded('away', -1));
    // What the session asked, its answer, both outcomes.
    expect(readdirSync(join(folder, 'spool'))).toHaveLength(4);
    cleanUp.pop();
    await gateway.stop();
    const bus = await startNats(port);
    await start(port);
    expect((await bus.messageOf('turnPaired', turnId)).body).toMatchObject({ nextState: [], outcomePending: true });
    expect(await outcomes(bus, 2)).toEqual([1, -1]);
    await eventually(() => Promise.resolve(readdirSync(join(folder, 'spool')).length === 0));
  });

  it('are not what a full spool gives up first', async () => {
    const port = await freePort();
    const gateway = await start(port, { SPOOL_MAX_BYTES: '12000' });
    await giveOutcome(gateway, 'kept', { reward: 1 });
    for (let index = 0; index < 8; index++) await ask(gateway, `${index}`, userSays(`${index} ${'long '.repeat(400)}`));
    expect(await gateway.metric('spool_dropped_total', 'open')).toBeGreaterThan(0);
    expect(await gateway.metric('spool_dropped_total', 'outcome')).toBe(0);
    expect(await outcomes(await startNats(port), 1)).toEqual([1]);
  });

  it('that can be written down nowhere are refused with 503', async () => {
    writeFileSync(join(folder, 'no-folder'), '');
    const gateway = await start(await freePort(), { SPOOL_DIR: join(folder, 'no-folder') });
    expect(await giveOutcome(gateway, 'lost', { reward: 1 })).toMatchObject({
      status: 503,
      body: { error: { code: 'dependency-unavailable' } },
    });
  });

  it('come once, where NATS comes back between a try and its repetition', async () => {
    const port = await freePort();
    const gateway = await start(port);
    await giveOutcome(gateway, 'retried', { reward: 0.5 });
    const bus = await startNats(port);
    await eventually(() => isConnected(gateway));
    await giveOutcome(gateway, 'retried', { reward: 0.5 });
    await eventually(() => Promise.resolve(readdirSync(join(folder, 'spool')).length === 0));
    expect(await outcomes(bus, 1)).toEqual([0.5]);
  });
});
