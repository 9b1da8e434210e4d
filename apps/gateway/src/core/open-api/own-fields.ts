import { optional, oneOfValues, type Schema } from './schema';

const YES = '`true`, or one of the texts 1, true, yes, on';

/** What a request may say to Hindcast itself, in its body (core/session-fields.ts). None of it reaches the engine. */
export const ownFields = {
  session_id: optional(
    ['string', 'number'],
    'Session of the client; the header X-Session-Id goes before it. Inside Hindcast only its HMAC is known',
  ),
  turn_type: optional(
    'string',
    '`main` is captured; any other text is a side request, which is not. Without it DEFAULT_TURN_TYPE says. The header X-Turn-Type goes before it',
  ),
  session_done: optional(
    ['boolean', 'string', 'number'],
    `Ends the session after this request: ${YES}. Also the header X-Session-Done`,
  ),
  session_outcome: optional(
    'string',
    '`pending`: the turn’s reward is the outcome of its session, given later at /v1/sessions/{id}/outcome. Needs a session id; any other text is refused. Also the header X-Session-Outcome',
  ),
  ground_truth: optional(
    'string',
    'What verifiers compare the answer with, at most 10000 characters. It is stored with the turn, as far as REDACTION lets it',
  ),
  train: optional(
    ['boolean', 'string', 'number'],
    `Whether the answer may be trained on. Whatever is not ${YES}, here or in the header X-Hindcast-Train, is a no: nothing of the request is stored`,
  ),
};

export interface Parameter {
  readonly name: string;
  readonly in: 'header' | 'path';
  readonly required?: boolean;
  readonly description: string;
  readonly schema: Schema;
}

const header = (name: string, description: string, schema: Schema = { type: 'string' }): Parameter => ({
  name,
  in: 'header',
  description,
  schema,
});

/** The same as headers. */
export const ownHeaders: readonly Parameter[] = [
  header('X-Session-Id', 'Session of the client. Also `session_id` in the body'),
  header('X-Turn-Type', '`main` is captured, anything else is not. Also `turn_type` in the body', {
    anyOf: [oneOfValues(['main', 'side']), { type: 'string' }],
  }),
  header('X-Session-Done', `Ends the session after this request: ${YES}. Also \`session_done\` in the body`),
  header(
    'X-Session-Outcome',
    '`pending`: the turn waits for its session’s outcome. Also `session_outcome` in the body',
  ),
  header('X-Hindcast-Train', 'A no keeps the request out of training and out of storage. Also `train` in the body'),
];

export const idParameter = (description: string): Parameter => ({
  name: 'id',
  in: 'path',
  required: true,
  description,
  schema: { type: 'string', minLength: 1 },
});
