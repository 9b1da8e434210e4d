import { answerOf, sendJson, type EngineCall, type FakeEngine } from './fake-engine';

/** A request to each route of the gateway behind which an engine is called, streamed too where it can be. */
export interface EngineRoute {
  readonly name: string;
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
  /** Where the engine gets it. */
  readonly enginePath: string;
  /** Whether a key's limits count for it. */
  readonly isLimited: boolean;
}

const chat = { messages: [{ role: 'user', content: 'Hi' }] };
const messages = { model: 'seed', max_tokens: 64, ...chat };
const route = (path: string, body: EngineRoute['body'], enginePath = '/v1/chat/completions'): EngineRoute => ({
  name: body['stream'] === true ? `${path}, streamed` : path,
  path,
  body,
  enginePath,
  isLimited: true,
});

export const engineRoutes: readonly EngineRoute[] = [
  route('/v1/chat/completions', chat),
  route('/v1/chat/completions', { ...chat, stream: true }),
  route('/v1/completions', { model: 'seed', prompt: 'Hi' }, '/v1/completions'),
  route('/v1/completions', { model: 'seed', prompt: 'Hi', stream: true }, '/v1/completions'),
  route('/v1/embeddings', { model: 'seed', input: 'Hi' }, '/v1/embeddings'),
  route('/v1/responses', { model: 'seed', input: 'Hi' }),
  route('/v1/responses', { model: 'seed', input: 'Hi', stream: true }),
  route('/v1/messages', messages),
  route('/v1/messages', { ...messages, stream: true }),
  route('/v1/messages/count_tokens', messages, '/tokenize'),
];

/** The engine's answer to any of these routes, of `tokens` tokens as its usage says. */
export function answerRoute(engine: FakeEngine, call: EngineCall, tokens = 5): void {
  const usage = { prompt_tokens: tokens - 2, completion_tokens: 2, total_tokens: tokens };
  if (call.path === '/tokenize') return sendJson(call.response, 200, { count: 3, tokens: [1, 2, 3] });
  if (call.path === '/v1/embeddings') {
    const counted = { prompt_tokens: tokens, total_tokens: tokens };
    return sendJson(call.response, 200, { object: 'list', data: [], model: 'seed', usage: counted });
  }
  if (call.path !== '/v1/completions') return engine.answer(call, answerOf('Hello there', { usage }));
  const completion = { id: 'cmpl-1', object: 'text_completion', created: 1, model: 'seed' };
  const choices = [{ index: 0, text: 'Hello', logprobs: null, finish_reason: 'stop' }];
  if (call.body['stream'] !== true) return sendJson(call.response, 200, { ...completion, choices, usage });
  const options = call.body['stream_options'] as { include_usage?: boolean } | undefined;
  engine.openStream(call);
  call.response.write(`data: ${JSON.stringify({ ...completion, choices })}\n\n`);
  if (options?.include_usage) call.response.write(`data: ${JSON.stringify({ ...completion, choices: [], usage })}\n\n`);
  call.response.end('data: [DONE]\n\n');
}
