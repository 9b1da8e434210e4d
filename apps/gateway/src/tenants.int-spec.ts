import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  contracts,
  queries,
  type ContractName,
  type LedgerStatus,
  type StatusQuery,
  type TurnAnswer,
  type TurnQuery,
} from '@hindcast/contracts';
import type { Msg } from '@nats-io/nats-core';
import { startNatsServer, type NatsServer } from '../../../libs/platform/src/testing/nats-server';
import { answerOf, FakeEngine } from './testing/fake-engine';
import { BusReader, eventually, startTestGateway, userSays, type RunningGateway } from './testing/gateway-harness';

/** Keys by tenant: `ann` and `ci` are of acme, `eve` is of globex. */
const owners = { ann: 'acme', ci: 'acme', eve: 'globex' } as const;
type Key = keyof typeof owners;
const bearer = (key: Key): Record<string, string> => ({ authorization: `Bearer sk-${key}` });

const noBooks: LedgerStatus = {
  turns: { captured: 0, paired: 0, untrainable: 0, expired: 0, superseded: 0, failed: 0, open: 0 },
  cases: { opdRl: 0, opd: 0, rl: 0, drop: 0, deciding: 0 },
  reasons: {},
  waitingSamples: 0,
  samplesTrained: 0,
  steps: 0,
  versionsPublished: 0,
  policyVersion: 0,
};

describe('tenants', () => {
  let nats: NatsServer;
  let engine: FakeEngine;
  let gateway: RunningGateway;
  let bus: BusReader;
  let folder: string;
  /** Whether the ledger has heard of the turns, or still lags behind. */
  let ledgerKnows = true;
  const askedFor: (string | null)[] = [];

  beforeAll(async () => {
    nats = await startNatsServer();
    engine = await FakeEngine.start();
    folder = mkdtempSync(join(tmpdir(), 'hindcast-tenants-'));
    const keys = Object.entries(owners).map(([name, tenant]) => ({
      name,
      tenant,
      sha256: createHash('sha256').update(`sk-${name}`).digest('hex'),
    }));
    writeFileSync(join(folder, 'keys.json'), JSON.stringify({ keys }));
    gateway = await startTestGateway({
      NATS_URL: nats.url,
      POLICY_BASE_URL: engine.url,
      API_KEYS_FILE: join(folder, 'keys.json'),
    });
    bus = await BusReader.connect(nats.url);
    await eventually(
      async () =>
        ((await (await fetch(`${gateway.url}/readyz`)).json()) as { degraded: string[] }).degraded.length === 0,
    );
    await startLedger();
  });
  afterAll(async () => {
    await gateway.stop();
    await bus.close();
    await engine.stop();
    await nats.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  beforeEach(() => {
    ledgerKnows = true;
    askedFor.length = 0;
    engine.script = (call) => engine.answer(call, answerOf('Hello'));
  });

  /** Answers as the dispatcher does: a turn of the asking tenant only, the books of that tenant. */
  const startLedger = async (): Promise<void> => {
    const respond = (subject: string, answer: (question: never) => Promise<unknown>): void => {
      const callback = (_: unknown, message: Msg): void =>
        void answer(message.json<never>()).then((found) => message.respond(JSON.stringify(found)));
      bus.raw.subscribe(subject, { callback });
    };
    respond(queries.turn.subject, async ({ tenant, id }: TurnQuery): Promise<TurnAnswer> => {
      askedFor.push(tenant);
      const own = (await bus.messages('turnCaptured')).filter((message) => message.tenant === tenant);
      const turn = own.find((message) => message.turnId === id || message.body.responseId === id);
      if (!turn || !ledgerKnows) return { found: false };
      const { responseId, policyVersion } = turn.body;
      const open = { state: 'open', case: null, reason: null, evalScore: null, hint: null, trainedIn: null } as const;
      const reward = { reward: null, rewardSource: null };
      return { found: true, turn: { turnId: turn.turnId!, responseId, policyVersion, ...open, ...reward } };
    });
    respond(queries.status.subject, ({ tenant }: StatusQuery): Promise<LedgerStatus> => {
      askedFor.push(tenant);
      return Promise.resolve(noBooks);
    });
    await bus.raw.flush();
  };

  const post = (path: string, key: Key, body?: object, headers: Record<string, string> = {}): Promise<Response> =>
    fetch(gateway.url + path, {
      method: 'POST',
      headers: { ...bearer(key), ...(body && { 'content-type': 'application/json' }), ...headers },
      ...(body && { body: JSON.stringify(body) }),
    });
  const ask = async (
    key: Key,
    messages: object[],
    headers: Record<string, string> = {},
  ): Promise<{ turnId: string; responseId: string }> => {
    const response = await post('/v1/chat/completions', key, { messages }, headers);
    expect(response.status).toBe(200);
    const { id } = (await response.json()) as { id: string };
    return { turnId: response.headers.get('x-hindcast-turn-id')!, responseId: id };
  };
  const statusOf = async (path: string, key: Key): Promise<number> =>
    (await fetch(gateway.url + path, { headers: bearer(key) })).status;
  const side = { 'x-turn-type': 'side' };
  const continued = (question: string): object[] => userSays(question, 'Hello', 'and then?');
  /** What was published after the next state of `turnId` is published is not here yet; of what came before, everything is. */
  const endsOf = async (turnId: string): Promise<string[]> => {
    const names = ['turnPaired', 'turnClosed'] as const satisfies readonly ContractName[];
    const found = await Promise.all(names.map((name) => bus.messages(name)));
    return names.filter((_, index) => found[index]!.some((message) => message.turnId === turnId));
  };

  it.each([true, false])('a turn is found by keys of its tenant alone (the ledger knows it: %s)', async (known) => {
    const { turnId, responseId } = await ask('ann', userSays(`mine ${known}`));
    await bus.messageOf('turnCaptured', turnId);
    ledgerKnows = known;
    for (const id of [turnId, responseId]) {
      expect(await statusOf(`/v1/turns/${id}`, 'ann')).toBe(200);
      expect(await statusOf(`/v1/turns/${id}`, 'ci')).toBe(200);
      expect(await statusOf(`/v1/turns/${id}`, 'eve')).toBe(404);
    }
    expect(askedFor).toEqual(['acme', 'acme', 'globex', 'acme', 'acme', 'globex']);
  });

  it('a tenant sees its own books', async () => {
    for (const key of ['ann', 'ci', 'eve'] as const) expect(await statusOf('/v1/status', key)).toBe(200);
    expect(askedFor).toEqual(['acme', 'acme', 'globex']);
  });

  it('feedback is taken from keys of the turn’s tenant alone', async () => {
    const { turnId, responseId } = await ask('ann', userSays('rate me'));
    await bus.messageOf('turnCaptured', turnId);
    for (const named of [{ turn_id: turnId }, { response_id: responseId }]) {
      const refused = await post('/v1/feedback', 'eve', { ...named, reward: -1 });
      expect(refused.status).toBe(404);
      expect(await refused.json()).toMatchObject({ error: { code: 'turn-not-found' } });
    }
    expect(await (await bus.bucket('feedback')).get(turnId)).toBeNull();
    expect(await endsOf(turnId)).toEqual([]);
    const taken = await post('/v1/feedback', 'ci', { response_id: responseId, reward: 1 });
    expect(await taken.json()).toEqual({ turn_id: turnId, status: 'accepted' });
    expect((await bus.messageOf('turnPaired', turnId)).tenant).toBe('acme');
  });

  it('D2 a conversation is continued by keys of its tenant alone', async () => {
    const { turnId } = await ask('ann', userSays('continue me'));
    // The gateway answers after it has looked for what the request continues.
    const own = await ask('eve', userSays('continue me'));
    await ask('eve', continued('continue me'), side);
    expect((await bus.messageOf('turnPaired', own.turnId)).tenant).toBe('globex');
    expect(await endsOf(turnId)).toEqual([]);
    await ask('ci', continued('continue me'), side);
    expect((await bus.messageOf('turnPaired', turnId)).tenant).toBe('acme');
  });

  it('a conversation whose history was edited is known again by keys of its tenant alone', async () => {
    const session = { 'x-session-id': 'compacted' };
    const { turnId } = await ask('ann', userSays('long ago', 'an answer', 'edit me'), session);
    await ask('eve', userSays('edit me', 'Hello', 'and then?'), session);
    expect(await endsOf(turnId)).toEqual([]);
    await ask('ci', userSays('edit me', 'Hello', 'and then?'), session);
    expect((await bus.messageOf('turnPaired', turnId)).tenant).toBe('acme');
  });

  it('a session is ended by keys of its tenant alone, in each of the two ways', async () => {
    const session = { 'x-session-id': 'shared name' };
    const [first, second] = [await ask('ann', userSays('one'), session), await ask('ann', userSays('two'), session)];
    const [ending, stray] = [await ask('eve', userSays('bye'), session), await ask('eve', userSays('stray'), session)];
    await ask('eve', continued('bye'), { ...session, ...side, 'x-session-done': '1' });
    await bus.messageOf('turnPaired', ending.turnId);
    await bus.messageOf('turnClosed', stray.turnId);
    const last = await ask('eve', userSays('more'), session);
    expect((await post(`/v1/sessions/${encodeURIComponent('shared name')}/end`, 'eve')).status).toBe(200);
    await bus.messageOf('turnClosed', last.turnId);
    for (const { turnId } of [first, second]) expect(await endsOf(turnId)).toEqual([]);
    expect((await post(`/v1/sessions/${encodeURIComponent('shared name')}/end`, 'ci')).status).toBe(200);
    for (const { turnId } of [first, second]) expect((await bus.messageOf('turnClosed', turnId)).tenant).toBe('acme');
    const [mine, theirs] = await Promise.all(
      [first, ending].map(async ({ turnId }) => (await bus.messageOf('turnCaptured', turnId)).body.sessionId),
    );
    expect(mine).not.toBe(theirs);
  });

  it('a repeated request supersedes within its tenant alone', async () => {
    const session = { 'x-session-id': 'again' };
    const first = await ask('ann', userSays('again'), session);
    const foreign = await ask('eve', userSays('again'), session);
    await ask('eve', userSays('again'), session);
    await bus.messageOf('turnClosed', foreign.turnId);
    expect(await endsOf(first.turnId)).toEqual([]);
    await ask('ci', userSays('again'), session);
    expect((await bus.messageOf('turnClosed', first.turnId)).body.reason).toBe('superseded');
  });

  it('a response is read and gone on from by keys of its tenant alone', async () => {
    const created = await post('/v1/responses', 'ann', { model: 'm', input: 'remember' });
    const { id } = (await created.json()) as { id: string };
    await bus.messageOf('turnCaptured', created.headers.get('x-hindcast-turn-id')!);
    expect(await statusOf(`/v1/responses/${id}`, 'ci')).toBe(200);
    expect(await statusOf(`/v1/responses/${id}`, 'eve')).toBe(404);
    engine.calls.length = 0;
    const next = { model: 'm', input: 'what?', previous_response_id: id };
    const refused = await post('/v1/responses', 'eve', next);
    expect([refused.status >= 400 && refused.status < 500, engine.calls.length]).toEqual([true, 0]);
    expect(await refused.text()).not.toContain('remember');
    expect((await post('/v1/responses', 'ci', next)).status).toBe(200);
    expect(JSON.stringify(engine.calls[0]!.body['messages'])).toContain('remember');
  });

  it('every message on the bus and every capture carries the tenant of its key', async () => {
    const turns = new Map<string, string>();
    for (const key of ['ann', 'ci', 'eve'] as const) {
      const { turnId } = await ask(key, userSays(`of ${key}`));
      await ask(key, continued(`of ${key}`), side);
      const failing = await ask(key, userSays(`end of ${key}`), { 'x-session-id': key });
      await post(`/v1/sessions/${key}/end`, key);
      turns.set(turnId, owners[key]).set(failing.turnId, owners[key]);
      await bus.messageOf('turnPaired', turnId);
      await bus.messageOf('turnClosed', failing.turnId);
    }
    const own = (Object.keys(contracts) as ContractName[]).filter((name) => contracts[name].publisher === 'gateway');
    const messages = (await Promise.all(own.map((name) => bus.messages(name)))).flat();
    for (const [turnId, tenant] of turns) {
      const tenants = messages.filter((message) => message.turnId === turnId).map((message) => message.tenant);
      expect(tenants).toEqual([tenant, tenant]);
      expect((await bus.capture(turnId))!.header.tenant).toBe(tenant);
    }
    expect(new Set(messages.map(({ tenant }) => tenant))).toEqual(new Set(Object.values(owners)));
  });
});
