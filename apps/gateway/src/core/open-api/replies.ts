import { reference, type Schema } from './schema';

export interface Reply {
  readonly description: string;
  readonly headers?: Readonly<Record<string, Schema>>;
  readonly content?: Readonly<Record<string, Schema>>;
}
export type Replies = Readonly<Record<string, Reply>>;

const header = (description: string, schema: Schema = { type: 'string' }): Schema => ({ description, schema });

export const turnIdHeader = {
  'x-hindcast-turn-id': header('Id of the turn, on every answer that is captured', { type: 'string', format: 'uuid' }),
};
export const turnIdsHeader = {
  'x-hindcast-turn-ids': header('With several choices: the turn id of each, in order, separated by commas'),
};
const retryAfter = {
  'retry-after': header('Seconds to wait before trying again; of an engine’s error what the engine says'),
};
/** On every answer to a key that has such a limit. */
const rateLimits = Object.fromEntries(
  ['requests', 'tokens'].flatMap((unit) => [
    [`x-ratelimit-limit-${unit}`, header(`The key's limit of ${unit} per minute`)],
    [`x-ratelimit-remaining-${unit}`, header(`What is left of the limit of ${unit}`)],
    [`x-ratelimit-reset-${unit}`, header(`Time until the whole limit of ${unit} is there again, like 1m30s`)],
  ]),
);

export const json = (description: string, schema: Schema, headers: Readonly<Record<string, Schema>> = {}): Reply => ({
  description,
  ...(Object.keys(headers).length > 0 && { headers }),
  content: { 'application/json': { schema } },
});

/** An answer that comes whole, or with `stream: true` as events. `x-event` is the schema of an event's data. */
export const answer = (
  whole: Schema,
  event: Schema,
  end: string,
  headers: Readonly<Record<string, Schema>>,
): Reply => ({
  description: 'The answer; with `stream: true` as server-sent events',
  headers,
  content: {
    'application/json': { schema: whole },
    'text/event-stream': {
      schema: { type: 'string', description: `Server-sent events, each with JSON as its data. ${end}` },
      'x-event': event,
    },
  },
});

/** Who words an error: Hindcast alone; the engine too; or both, in Anthropic's shape. */
export type Wording = 'own' | 'engine' | 'messages';

const schemas: Readonly<Record<Wording, Schema>> = {
  own: reference('Error'),
  engine: { anyOf: [reference('Error'), reference('EngineError')] },
  messages: reference('MessagesError'),
};
/** What Hindcast's own errors say when to try again at. */
const MAY_WAIT = new Set(['429', '503']);

export const errors = (wording: Wording, meanings: Readonly<Record<string, string>>): Replies =>
  Object.fromEntries(
    Object.entries(meanings).map(([status, description]) => {
      // An engine may say it with any error.
      const waits = MAY_WAIT.has(status) || (wording !== 'own' && status !== '401');
      return [status, json(description, schemas[wording], waits ? retryAfter : {})];
    }),
  );

/** What any path behind a key may answer. */
export const guarded = {
  401: 'No API key, or one that is not known or has expired',
  500: 'A fault of Hindcast itself',
  503: 'Hindcast is starting',
};
/** What any path that reads a body may answer besides. */
export const withBody = {
  400: 'The body is no JSON, or not what the path takes',
  413: 'The body is larger than MAX_BODY_BYTES',
  415: 'The body is not sent as application/json',
};
/** What any path with an id in it may answer besides. */
export const withId = { 400: 'The path is no readable URL' };
/** What any path with an engine behind it may answer besides. */
export const withEngine = {
  404: 'The model is not known: with STRICT_MODEL=1 to Hindcast, else to the engine',
  502: 'The engine cannot be reached, broke off, or did not answer as it should',
  503: 'No engine is asked for a moment, since all failed; or Hindcast is starting',
  504: 'The engine did not answer in time',
  '4XX': 'Another refusal of the engine, with its status',
  '5XX': 'Another failure of the engine, with its status',
};
/** What any path with limits may answer besides. */
export const withLimits = { 429: 'A limit of the API key or of the engine is reached' };

/** Adds the headers of the key's limits; who has no valid key has no limits. */
export const limited = (replies: Replies): Replies =>
  Object.fromEntries(
    Object.entries(replies).map(([status, reply]) => [
      status,
      status === '401' ? reply : { ...reply, headers: { ...reply.headers, ...rateLimits } },
    ]),
  );
