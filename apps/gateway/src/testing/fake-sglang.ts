import {
  choicesOf,
  countsOf,
  finishReasonOf,
  joinDeltas,
  promptIdsOf,
  stepsOf,
  toolCallsOf,
  writeJson,
  writePythonJson,
  type EngineWire,
  type ErrorResponse,
  type FakeAnswer,
  type FakeChoice,
  type FakeToken,
} from './engine-wire';

type Json = Record<string, unknown>;

const DONE = 'data: [DONE]\n\n';
const STREAM_REFUSALS: Readonly<Record<string, string>> = {
  return_prompt_token_ids:
    'return_prompt_token_ids is not supported with streaming. Please set stream=false when using return_prompt_token_ids=true.',
  return_token_ids:
    'return_token_ids is not supported with streaming on /v1/chat/completions. Please set stream=false when using return_token_ids=true.',
  return_meta_info:
    'return_meta_info is not supported with streaming. Please set stream=false when using return_meta_info=true.',
};

/**
 * SGLang 0.5.23's chat completions. Text, reasoning and log-probs are written by msgspec, tool calls, ids and usage by pydantic: the
 * nulls differ. Ids come in `sglext`, at the end of a stream.
 *
 * @param hasParsers whether the server runs with a tool or reasoning parser. Without one, a step that shows no text loses its
 *   log-probs in a stream.
 */
export const sglangWire = (hasParsers = true): EngineWire => ({
  owner: 'sglang',
  write: (body) => writeJson(body, 'rust'),

  refusal(request) {
    if (request['stream'] !== true) return null;
    for (const [field, message] of Object.entries(STREAM_REFUSALS))
      if (request[field] === true) return refuse(400, message, 'BadRequest');
    return null;
  },

  events(request, answer, id) {
    const chunk = (rest: Json): string =>
      `data: ${writeJson({ ...base(request, id, 'chat.completion.chunk'), ...rest }, 'rust')}\n\n`;
    const events: string[] = [];
    choicesOf(answer).forEach((choice, index) => {
      events.push(
        chunk({ choices: [plainChoice(index, { reasoning_content: null, role: 'assistant', content: '' })] }),
      );
      for (const tokens of stepsOf(choice, answer.steps))
        events.push(...stepChoices(request, tokens, index, hasParsers).map(chunk));
    });
    choicesOf(answer).forEach((choice, index) => {
      const finished = { finish_reason: finishReasonOf(choice), matched_stop: choice.stopReason ?? null };
      events.push(chunk({ choices: [{ ...plainChoice(index, { reasoning_content: null }), ...finished }] }));
    });
    const sglext = extension(request, answer);
    if (sglext) events.push(chunk({ choices: [], usage: null, sglext }));
    const options = request['stream_options'] as { include_usage?: boolean } | null | undefined;
    if (options?.include_usage) events.push(chunk({ choices: [], usage: usageJson(answer) }));
    return [...events, DONE];
  },

  whole(request, answer, id) {
    const sglext = extension(request, answer);
    return {
      ...base(request, id, 'chat.completion'),
      choices: choicesOf(answer).map((choice, index) => wholeChoice(request, answer, choice, index)),
      usage: usageJson(answer),
      metadata: { weight_version: 'default' },
      ...(sglext && { sglext }),
    };
  },

  error: (status, message) => refuse(status, message, TYPES[status] ?? String(status)),
  brokenStream: (status, message) => [
    `data: ${writePythonJson({ error: errorJson(status, message, TYPES[status] ?? String(status)) })}\n\n`,
    DONE,
  ],
});

const base = (request: Json, id: string, object: string): Json => ({ id, object, created: 1, model: request['model'] });

const plainChoice = (index: number, delta: Json, logprobs: Json | null = null): Json => ({
  index,
  delta,
  logprobs,
  finish_reason: null,
  matched_stop: null,
});

const parsesTools = (request: Json, hasParsers: boolean): boolean =>
  hasParsers && Array.isArray(request['tools']) && request['tools'].length > 0 && request['tool_choice'] !== 'none';

/** The chunks of one step: reasoning, text, tool calls; its log-probs go with the first that can carry them, else alone. */
function stepChoices(request: Json, tokens: readonly FakeToken[], index: number, hasParsers: boolean): Json[] {
  const delta = joinDeltas(tokens);
  let logProbs = logProbsJson(request, tokens);
  const chunks: Json[] = [];
  const take = (): Json | null => {
    const taken = logProbs;
    logProbs = null;
    return taken;
  };
  if (delta?.reasoning) chunks.push({ choices: [plainChoice(index, { reasoning_content: delta.reasoning }, take())] });
  if (parsesTools(request, hasParsers)) {
    const parsed = (fields: Json): Json => ({
      choices: [plainChoice(index, { role: null, content: null, reasoning_content: null, ...fields })],
      usage: null,
    });
    if (delta?.content) chunks.push(parsed({ content: delta.content }));
    for (const { index: position, id, name, arguments: piece } of delta?.toolCalls ?? []) {
      const target = { name: name ?? null, arguments: piece ?? '' };
      chunks.push(parsed({ tool_calls: [{ id: id ?? null, index: position, type: 'function', function: target }] }));
    }
  } else if (delta?.content) {
    chunks.push({ choices: [plainChoice(index, { reasoning_content: null, content: delta.content }, take())] });
  }
  if (logProbs && hasParsers) chunks.push({ choices: [plainChoice(index, { reasoning_content: null }, take())] });
  return chunks;
}

function wholeChoice(request: Json, answer: FakeAnswer, choice: FakeChoice, index: number): Json {
  const { tokens } = choice;
  const shown = joinDeltas(tokens);
  const calls = toolCallsOf(tokens);
  const wantsIds = request['return_token_ids'] === true;
  return {
    index,
    message: {
      role: 'assistant',
      content: shown?.content ?? '',
      reasoning_content: shown?.reasoning ?? null,
      ...(calls.length > 0 && {
        tool_calls: calls.map(({ id, ...target }, position) => ({
          id,
          index: position,
          type: 'function',
          function: target,
        })),
      }),
    },
    logprobs: logProbsJson(request, tokens),
    finish_reason: finishReasonOf(choice),
    matched_stop: choice.stopReason ?? null,
    ...((wantsIds || request['return_prompt_token_ids'] === true) && { prompt_token_ids: promptIdsOf(answer) }),
    ...(wantsIds && { response_token_ids: tokens.map(({ id }) => id) }),
  };
}

function extension(request: Json, answer: FakeAnswer): Json | null {
  const sglext = {
    ...(request['return_input_ids_in_sglext'] === true && { input_ids: promptIdsOf(answer) }),
    ...(request['return_output_ids_in_sglext'] === true && {
      output_ids: choicesOf(answer).map(({ tokens }) => tokens.map(({ id }) => id)),
    }),
  };
  return Object.keys(sglext).length > 0 ? sglext : null;
}

function logProbsJson(request: Json, tokens: readonly FakeToken[]): Json | null {
  if (request['logprobs'] !== true) return null;
  const top = typeof request['top_logprobs'] === 'number' ? request['top_logprobs'] : 0;
  return {
    content: tokens.map(({ text, logProb }) => {
      const bytes = [...Buffer.from(text)];
      const best = top > 0 ? [{ token: text, bytes, logprob: logProb }] : [];
      return { token: text, bytes, logprob: logProb, top_logprobs: best };
    }),
  };
}

const usageJson = (answer: FakeAnswer): Json => ({
  ...countsOf(answer),
  prompt_tokens_details: null,
  reasoning_tokens: 0,
  completion_tokens_details: null,
});

const TYPES: Readonly<Record<number, string>> = { 400: 'BadRequestError', 500: 'InternalServerError' };

const errorJson = (status: number, message: string, type: string): Json => ({
  object: 'error',
  message,
  type,
  param: null,
  code: status,
});

const refuse = (status: number, message: string, type: string): ErrorResponse => ({
  status,
  body: JSON.stringify(errorJson(status, message, type)),
});
