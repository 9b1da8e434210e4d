import { randomUUID } from 'node:crypto';
import { Buckets, Bus, sessionIdOf, userIdOf, type RunningService } from '@hindcast/platform';
import {
  contracts,
  deadSubject,
  durableName,
  encodeCapture,
  encodeLogProbs,
  encodeNumbers,
  encodeTopK,
  messageSchema,
  type TrainedSample,
} from '@hindcast/contracts';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { withTexts } from './ledger-rows';
import { query } from './postgres';
import { eventually, published, send } from './service';
import { capture, capturedTurn, pairedTurn, scoredTurn, unhintedTurn } from './turns';

/** SESSION_SECRET of all that knows sessions and users. */
export const SECRET = 'a secret of all gateways';

/** A dispatcher with what it stands on. */
export interface Stage {
  readonly service: RunningService;
  readonly databaseUrl: string;
  readonly natsUrl: string;
  /** Newest version that a turn was trained in. */
  versions: number;
}

export interface Person {
  readonly session: string;
  readonly user: string;
  /** Stands in every text of this person, and nowhere else. */
  readonly marker: string;
}
export const person = (name: string): Person => ({
  session: `session of ${name}`,
  user: `user ${name}`,
  marker: `MARKER-${name}-${randomUUID()}`,
});

export type Fate = 'open' | 'paired' | 'decided' | 'trained' | 'dead' | 'held';

/** A turn of the person that has come so far, with the marker in everything that can hold a text. */
export async function markedTurn(stage: Stage, { session, user, marker }: Person, fate: Fate): Promise<string> {
  const { service } = stage;
  const turnId = randomUUID();
  const ids = { responseId: `${marker}-${turnId}`, sessionId: sessionIdOf(Buffer.from(SECRET), 'acme', session) };
  const userId = userIdOf(Buffer.from(SECRET), 'acme', user);
  const buckets = service.app.get(Buckets);
  const put = async (name: 'captures' | 'feedback' | 'topK' | 'openTurns', key: string, value: string | Uint8Array) =>
    (await buckets.open(name)).put(key, value);
  const held = withTexts(capture(turnId, ids.responseId), marker);
  await put('captures', turnId, encodeCapture(held));
  await put('feedback', `late.${turnId}`, JSON.stringify({ reward: 1, comment: marker, correction: null, at: 1 }));
  await put('topK', turnId, encodeTopK({ k: 1, ids: Int32Array.of(1), logProbs: Float32Array.of(-1) }));
  const outcomePending = fate === 'held';
  const captured = capturedTurn({ ...ids, userId, outcomePending });
  await send(service, 'turnCaptured', turnId, captured);
  if (fate === 'open') {
    const record = {
      turnId,
      tenant: 'acme',
      sessionId: ids.sessionId,
      captured,
      announced: true,
      ending: null,
      note: marker,
    };
    const foreign = {
      ...record,
      turnId: randomUUID(),
      sessionId: 'f'.repeat(32),
      captured: capturedTurn(),
      note: 'another',
    };
    await put('openTurns', `turn.key-${turnId}`, JSON.stringify([foreign, record]));
    await put('openTurns', `session.${ids.sessionId}`, JSON.stringify([{ turnId, key: marker }]));
    await eventually(async () => (await countOf(stage, 'turns', turnId)) === 1);
    return turnId;
  }
  await send(service, 'turnPaired', turnId, pairedTurn({ ...ids, answer: marker, outcomePending }));
  await eventually(async () => (await endingOf(stage, turnId)) === 'paired');
  if (fate === 'paired') return turnId;
  const vote = {
    score: 1 as const,
    abstained: null,
    latencyMs: 1,
    promptTokens: 1,
    completionTokens: 1,
    cost: null,
    promptVersion: '1',
    raw: marker,
  };
  const judged = { ...ids, evalVotes: [vote], hintVotes: [{ ...vote, hint: marker }], outcomePending };
  const scored = scoredTurn({ ...judged, hint: marker });
  if (fate === 'held') {
    await send(service, 'turnUnhinted', turnId, unhintedTurn(judged));
    await eventually(async () => (await countOf(stage, 'held_turns', turnId, 'turnId')) === 1);
    return turnId;
  }
  if (fate === 'dead') {
    await bury(service, turnId, scored, marker);
    await eventually(async () => (await countOf(stage, 'decisions', turnId, 'turnId')) === 1);
    return turnId;
  }
  await send(service, 'turnScored', turnId, scored);
  await eventually(async () =>
    (await published(stage.natsUrl, 'sampleReady')).some((sample) => sample.turnId === turnId),
  );
  if (fate === 'trained') {
    const version = ++stage.versions;
    const step = {
      version,
      parent: version - 1,
      state: 'published' as const,
      reason: null,
      turnIds: [turnId],
      adapter: 'a',
      adapterDir: 'd',
      metrics: {},
    };
    await send(service, 'policyUpdated', null, step);
    await eventually(
      async () =>
        (await query<{ v: number }>(stage.databaseUrl, `SELECT "trainedIn" v FROM turns WHERE id = '${turnId}'`))[0]!
          .v === version,
    );
    await send(service, 'sampleTrained', turnId, trainedIn(version));
    await eventually(async () => (await countOf(stage, 'trained_tokens', turnId, 'turnId')) === 1);
  }
  return turnId;
}
export const trainedIn = (version: number): TrainedSample => ({
  version,
  advantages: encodeNumbers([1, 2, 3]),
  oldLogProbs: encodeLogProbs([-1, -1, -1]),
  newLogProbs: null,
  clipEpsilonLow: 0.2,
  clipEpsilonHigh: 0.28,
});

async function bury(service: RunningService, turnId: string, body: unknown, marker: string): Promise<void> {
  const { subject } = contracts.turnScored;
  const message = { v: 1, turnId, tenant: 'acme', at: 1, body };
  const letter = {
    subject,
    consumer: durableName('dispatcher', subject),
    code: 'handler-failed',
    error: marker,
    deliveries: 3,
    messageId: null,
    payload: Buffer.from(JSON.stringify(message)).toString('base64'),
  };
  const envelope = messageSchema('dead').parse({ v: 1, turnId, tenant: 'acme', at: 1, body: letter });
  await service.app.get(Bus).store(deadSubject(subject), randomUUID(), JSON.stringify(envelope));
}

/** Rows of a table in which a column has this value. */
export const countOf = async ({ databaseUrl }: Stage, table: string, id: string, column = 'id'): Promise<number> =>
  Number(
    (await query<{ count: string }>(databaseUrl, `SELECT count(*) FROM ${table} WHERE "${column}" = '${id}'`))[0]!
      .count,
  );
export const endingOf = async ({ databaseUrl }: Stage, id: string): Promise<string | undefined> =>
  (await query<{ ending: string }>(databaseUrl, `SELECT ending FROM turns WHERE id = '${id}'`))[0]?.ending;

/** Where a text stands: in any row of any table, in any message of any stream, its bytes as they are or as base64. */
export async function placesOf({ databaseUrl, natsUrl }: Stage, text: string): Promise<string[]> {
  const found: string[] = [];
  const tables = await query<{ name: string }>(
    databaseUrl,
    `SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public'`,
  );
  const hex = Buffer.from(text).toString('hex');
  for (const { name } of tables) {
    const [{ count }] = (await query<{ count: string }>(
      databaseUrl,
      `SELECT count(*) FROM ${name} t WHERE t::text LIKE '%${text}%' OR t::text LIKE '%${hex}%'`,
    )) as [{ count: string }];
    if (Number(count) > 0) found.push(name);
  }
  const connection = await connect({ servers: natsUrl });
  const manager = await jetstreamManager(connection);
  for await (const { config, state } of manager.streams.list())
    for (let seq = state.first_seq; seq <= state.last_seq && state.messages > 0; seq++) {
      const message = await manager.streams.getMessage(config.name, { seq });
      if (!message) continue;
      const raw = Buffer.from(message.data).toString('latin1');
      const payload = /"payload":"([^"]*)"/.exec(raw)?.[1] ?? '';
      if (`${message.subject} ${raw} ${Buffer.from(payload, 'base64').toString('latin1')}`.includes(text))
        found.push(config.name);
    }
  await connection.close();
  return [...new Set(found)].sort();
}
