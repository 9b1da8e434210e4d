import { choicesOf, countsOf, finishReasonOf, type EngineWire, type FakeAnswer, type FakeToken } from './engine-wire';

type Json = Record<string, unknown>;

/** How servers without token ids differ. */
export interface OpenAiHabits {
  readonly bytesOf: (id: number) => Uint8Array;
  readonly isSpecial: (id: number) => boolean;
  /** llama.cpp gives ids and shows a special token as nothing; in a stream a token that adds no text has no entry. */
  server: 'bytes' | 'llama.cpp' | 'ollama';
}

/** Chat completions of a server that knows OpenAI's fields only: log-probs with bytes, usage, no prompt ids. */
export function openAiWire(habits: OpenAiHabits): EngineWire {
  const { bytesOf, isSpecial } = habits;
  const is = (server: OpenAiHabits['server']): boolean => habits.server === server;
  const write = (body: unknown): string => JSON.stringify(body);
  const bytes = ({ id }: FakeToken): number[] => (is('llama.cpp') && isSpecial(id) ? [] : [...bytesOf(id)]);
  const isShown = ({ id }: FakeToken): boolean => !(is('ollama') && isSpecial(id));
  const entry = (token: FakeToken): Json => ({
    ...(is('llama.cpp') && { id: token.id }),
    token: Buffer.from(bytes(token)).toString(),
    logprob: token.logProb,
    bytes: bytes(token),
    top_logprobs: is('llama.cpp') ? [{ token: 'x', logprob: -3, bytes: [120] }] : [],
  });
  const text = (tokens: readonly FakeToken[]): string =>
    Buffer.concat(tokens.filter(({ id }) => !isSpecial(id)).map(({ id }) => bytesOf(id))).toString();

  return {
    owner: 'openai',
    write,
    refusal(request) {
      const hasTools = Array.isArray(request['tools']) && request['tools'].length > 0;
      if (!is('llama.cpp') || !hasTools || request['stream'] !== true || request['logprobs'] !== true) return null;
      const message = 'logprobs is not supported with tools + stream';
      return { status: 400, body: write({ error: { code: 400, message, type: 'invalid_request_error' } }) };
    },
    events(request, answer, id) {
      const chunk = (rest: Json): string =>
        `data: ${write({ id, object: 'chat.completion.chunk', created: 1, model: request['model'], ...rest })}\n\n`;
      const choice = (delta: Json, rest: Json = {}): string =>
        chunk({ choices: [{ index: 0, delta, finish_reason: null, ...rest }] });
      const options = request['stream_options'] as { include_usage?: boolean } | undefined;
      return [
        choice({ role: 'assistant', content: null }),
        ...answer.tokens
          .filter((token) => isShown(token) && !(is('llama.cpp') && isSpecial(token.id)))
          .map((token) => {
            const logprobs = request['logprobs'] === true && { logprobs: { content: [entry(token)] } };
            return choice(isSpecial(token.id) ? {} : { content: text([token]) }, { ...logprobs });
          }),
        choice({}, { finish_reason: finishReasonOf(answer) }),
        ...(options?.include_usage ? [chunk({ choices: [], usage: usageOf(answer) })] : []),
        'data: [DONE]\n\n',
      ];
    },
    whole: (request, answer, id) => ({
      id,
      object: 'chat.completion',
      created: 1,
      model: request['model'],
      choices: choicesOf(answer).map((choice, index) => ({
        index,
        message: { role: 'assistant', content: text(choice.tokens) },
        finish_reason: finishReasonOf(choice),
        ...(request['logprobs'] === true && { logprobs: { content: choice.tokens.filter(isShown).map(entry) } }),
      })),
      usage: usageOf(answer),
    }),
    error: (status, message) => ({ status, body: write({ error: { message, type: 'server_error' } }) }),
    brokenStream: (status, message) => [`data: ${write({ error: { code: status, message } })}\n\n`],
  };
}

const usageOf = (answer: FakeAnswer): Json => countsOf(answer) as unknown as Json;
