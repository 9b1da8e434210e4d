import type { Random } from './random';

export interface RawRequest {
  readonly method: 'POST' | 'GET' | 'PUT' | 'DELETE' | 'PATCH';
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body: Buffer;
}

/** A well-formed body of each route that a client may send one to. */
const BODIES: Readonly<Record<string, () => Record<string, unknown>>> = {
  '/v1/chat/completions': () => ({
    model: 'seed',
    messages: [
      { role: 'system', content: 'Be kind.' },
      { role: 'user', content: [{ type: 'text', text: 'hi' }] },
      { role: 'assistant', content: null, tool_calls: [call()] },
      { role: 'tool', tool_call_id: 'call_1', content: 'sunny' },
    ],
    tools: [{ type: 'function', function: { name: 'weather', parameters: { type: 'object' } } }],
    stream: false,
    stream_options: null,
    temperature: 1,
    n: 1,
    max_tokens: 5,
    session_id: 's',
  }),
  '/v1/completions': () => ({ model: 'seed', prompt: 'hi', stream: false, max_tokens: 5 }),
  '/v1/embeddings': () => ({ model: 'seed', input: ['a', 'b'] }),
  '/v1/responses': () => ({
    model: 'seed',
    instructions: 'Be kind.',
    input: [
      { role: 'user', content: [{ type: 'input_text', text: 'hi' }] },
      { type: 'function_call', call_id: 'call_1', name: 'weather', arguments: '{}' },
      { type: 'function_call_output', call_id: 'call_1', output: 'sunny' },
    ],
    tools: [{ type: 'function', name: 'weather', parameters: { type: 'object' } }],
    previous_response_id: null,
    stream: false,
  }),
  '/v1/messages': () => ({
    model: 'seed',
    max_tokens: 5,
    system: [{ type: 'text', text: 'Be kind.' }],
    messages: [
      { role: 'user', content: 'hi' },
      { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', name: 'weather', input: {} }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'sunny' }] },
    ],
    tools: [{ name: 'weather', input_schema: { type: 'object' } }],
    stream: false,
  }),
  '/v1/messages/count_tokens': () => ({ model: 'seed', messages: [{ role: 'user', content: 'hi' }] }),
  '/v1/feedback': () => ({ turn_id: 'no-such-turn', reward: 1, comment: 'good' }),
};
const call = (): object => ({ id: 'call_1', type: 'function', function: { name: 'weather', arguments: '{"a":1}' } });
export const POST_PATHS = Object.keys(BODIES);

const WRONG: readonly ((random: Random) => unknown)[] = [
  () => null,
  () => true,
  () => -1,
  () => 1e308,
  () => 0.5,
  () => '',
  () => 'null',
  () => '\u0000\ud800',
  () => [],
  () => [[]],
  () => [null],
  () => ({}),
  () => ({ toString: 1, length: -1, then: 'x' }),
  () => JSON.parse('{"__proto__":{"x":1},"constructor":{"prototype":{"y":1}}}') as unknown,
  (random) => nested(random.pick([10, 300, 3_000])),
  (random) => 'x'.repeat(random.pick([300, 70_000])),
  (random) => Array.from({ length: 200 }, () => random.pick<unknown>([null, 1, 'a', {}])),
];

function nested(depth: number): unknown {
  let value: unknown = 'deep';
  for (let level = 0; level < depth; level++) value = level % 2 === 0 ? [value] : { a: value };
  return value;
}

/** Replaces, removes or adds one member somewhere in the value. */
function distorted(value: unknown, random: Random): unknown {
  if (typeof value !== 'object' || value === null || random.next() < 0.15) return random.pick(WRONG)(random);
  if (Array.isArray(value)) {
    const copy = [...(value as unknown[])];
    if (copy.length === 0 || random.next() < 0.2) copy.push(random.pick(WRONG)(random));
    else {
      const index = random.below(copy.length);
      copy[index] = distorted(copy[index], random);
    }
    return copy;
  }
  const copy = { ...(value as Record<string, unknown>) };
  const key = random.pick(Object.keys(copy).concat('unknown_field'));
  if (random.next() < 0.2) delete copy[key];
  else copy[key] = distorted(copy[key], random);
  return copy;
}

/** Breaks the text of a body: cut, doubled, with bytes that belong to no JSON, or no JSON at all. */
function broken(text: Buffer, random: Random): Buffer {
  const at = random.below(text.length + 1);
  switch (random.below(5)) {
    case 0:
      return text.subarray(0, at);
    case 1:
      return Buffer.concat([text, text]);
    case 2:
      return Buffer.concat([text.subarray(0, at), random.bytes(1 + random.below(8)), text.subarray(at)]);
    case 3:
      return random.bytes(random.below(400));
    default:
      return Buffer.from(
        random.pick(['', ' ', 'null', '[]', '"text"', '1', 'NaN', '{', '{"messages":[{]}', '\ufeff{}']),
      );
  }
}

/** A request that differs somewhere from what its route expects; a few are by chance still well-formed. */
export function malformedRequest(random: Random): RawRequest {
  const route = random.pick(POST_PATHS);
  let body: unknown = BODIES[route]!();
  for (let times = 1 + random.below(3); times > 0; times--) body = distorted(body, random);
  const text = Buffer.from(JSON.stringify(body) ?? 'null');
  return {
    method: random.next() < 0.97 ? 'POST' : random.pick(['GET', 'PUT', 'DELETE', 'PATCH']),
    path: random.next() < 0.95 ? route : random.pick(ODD_PATHS),
    headers: {
      'content-type': random.next() < 0.93 ? 'application/json' : random.pick(ODD_TYPES),
      ...(random.next() < 0.1 && random.pick(ODD_HEADERS)),
    },
    body: random.next() < 0.7 ? text : broken(text, random),
  };
}

const ODD_PATHS = [
  '/',
  '/v1',
  '/v1/chat',
  '/v1/chat/completions/x',
  '/v1/%ff',
  '/v1/turns/%00',
  '/v1/turns/x',
  '/v1/sessions/%2e%2e/end',
  '/v1/sessions//end',
  '/v1/models/..%2f..%2fetc',
  '/v1/responses/x',
  '/v1/files',
  '/V1/CHAT/COMPLETIONS',
  `/v1/turns/${'x'.repeat(5_000)}`,
];
const ODD_TYPES = [
  '',
  'text/plain',
  'application/xml',
  'multipart/form-data',
  'application/json; charset=utf-16',
  '*/*',
];
const ODD_HEADERS: readonly Record<string, string>[] = [
  { 'x-session-id': 'x'.repeat(3_000) },
  { 'x-turn-type': 'neither' },
  { 'x-session-done': 'maybe' },
  { 'x-hindcast-train': 'perhaps' },
  { authorization: 'Bearer ' },
  { 'x-api-key': '\u00ff' },
  { 'content-encoding': 'gzip' },
  { cookie: 'a'.repeat(3_000) },
  { 'anthropic-version': 'never' },
];
