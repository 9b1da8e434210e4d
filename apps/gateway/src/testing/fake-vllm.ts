import {
  choicesOf,
  countsOf,
  finishReasonOf,
  joinDeltas,
  promptIdsOf,
  stepsOf,
  toolCallsOf,
  writeJson,
  type EngineWire,
  type ErrorResponse,
  type FakeAnswer,
  type FakeChoice,
  type FakeDelta,
  type FakeToken,
} from './engine-wire';

type Json = Record<string, unknown>;

const FINGERPRINT = 'vllm-0.33.0-tp1-fake';
const DONE = 'data: [DONE]\n\n';

/**
 * vLLM 0.33's chat completions. A stream leaves out what its code did not set, so a `null` stands where it set one; a whole answer
 * names every field. Streams are written by pydantic, whole answers by Python's `json`.
 */
export const vllmWire: EngineWire = {
  owner: 'vllm',
  write: (body) => writeJson(body, 'python'),

  refusal(request) {
    const top = request['top_logprobs'];
    if (typeof top === 'number' && top > 0 && request['logprobs'] !== true)
      return refuse(400, 'when using `top_logprobs`, `logprobs` must be set to true.', 'top_logprobs');
    return null;
  },

  events(request, answer, id) {
    const chunk = (choices: readonly Json[], rest: Json): string =>
      `data: ${writeJson({ id, object: 'chat.completion.chunk', created: 1, model: request['model'], choices, ...rest }, 'rust')}\n\n`;
    const { includesUsage, isContinuous } = usageOptions(request);
    const running = (completion: number): Json => {
      const prompt = countsOf(answer).prompt_tokens;
      if (!isContinuous) return {};
      const usage = { prompt_tokens: prompt, total_tokens: prompt + completion, completion_tokens: completion };
      return { usage: { ...usage, completion_tokens_details: null } };
    };
    const events = choicesOf(answer).map((_, index) =>
      chunk([{ index, delta: { role: 'assistant', content: '' }, logprobs: null, finish_reason: null }], {
        ...running(0),
        prompt_token_ids: wantsIds(request) ? promptIdsOf(answer) : null,
        prompt_text: null,
      }),
    );
    for (const { choice, index, tokens, isLast, sampled } of interleaved(answer)) {
      const delta = joinDeltas(tokens);
      if (delta === null && !isLast && !wantsIds(request) && request['logprobs'] !== true) continue;
      const step: Json = {
        index,
        delta: delta ? deltaJson(delta) : {},
        logprobs: logProbsJson(request, tokens),
        finish_reason: isLast ? finishReasonOf(choice) : null,
        ...(isLast && { stop_reason: choice.stopReason ?? null }),
        token_ids: idsJson(request, tokens),
        ...(isLast && { weight_versions: null }),
      };
      const ending = isLast && !includesUsage ? { system_fingerprint: FINGERPRINT } : {};
      events.push(chunk([step], { ...running(sampled), ...ending, kv_transfer_params: null }));
    }
    if (includesUsage) events.push(chunk([], { usage: countsOf(answer), system_fingerprint: FINGERPRINT }));
    return [...events, DONE];
  },

  whole: (request, answer, id) => ({
    id,
    object: 'chat.completion',
    created: 1,
    model: request['model'],
    choices: choicesOf(answer).map((choice, index) => wholeChoice(request, choice, index)),
    service_tier: null,
    system_fingerprint: FINGERPRINT,
    usage: { ...countsOf(answer), prompt_tokens_details: null, completion_tokens_details: null },
    prompt_logprobs: null,
    prompt_token_ids: wantsIds(request) ? promptIdsOf(answer) : null,
    prompt_text: null,
    kv_transfer_params: null,
    ec_transfer_params: null,
    metrics: null,
  }),

  error: (status, message) => refuse(status, message),
  brokenStream: (status, message) => [`data: ${refuse(status, message).body}\n\n`, DONE],
};

const wantsIds = (request: Json): boolean => request['return_token_ids'] === true;

function usageOptions(request: Json): { includesUsage: boolean; isContinuous: boolean } {
  const options = request['stream_options'] as { include_usage?: boolean; continuous_usage_stats?: boolean } | null;
  const includesUsage = options?.include_usage === true;
  return { includesUsage, isContinuous: includesUsage && options?.continuous_usage_stats === true };
}

interface Step {
  readonly choice: FakeChoice;
  readonly index: number;
  readonly tokens: readonly FakeToken[];
  readonly isLast: boolean;
  /** Ids of the choice up to and including this step. */
  readonly sampled: number;
}

/** The steps of all choices, one of each in turn. */
function interleaved(answer: FakeAnswer): Step[] {
  const all = choicesOf(answer).map((choice) => stepsOf(choice, answer.steps));
  const rounds = Math.max(...all.map((steps) => steps.length));
  const order: Step[] = [];
  for (let round = 0; round < rounds; round++) {
    choicesOf(answer).forEach((choice, index) => {
      const steps = all[index]!;
      const tokens = steps[round];
      if (!tokens) return;
      const sampled = steps.slice(0, round + 1).flat().length;
      order.push({ choice, index, tokens, isLast: round === steps.length - 1, sampled });
    });
  }
  return order;
}

const deltaJson = ({ content, reasoning, toolCalls }: FakeDelta): Json => ({
  ...(content !== undefined && { content }),
  ...(reasoning !== undefined && { reasoning }),
  ...(toolCalls && {
    tool_calls: toolCalls.map(({ id, index, name, arguments: piece }) => ({
      ...(id !== undefined && { id, type: 'function' }),
      index,
      function: { ...(name !== undefined && { name }), ...(piece !== undefined && { arguments: piece }) },
    })),
  }),
});

function wholeChoice(request: Json, choice: FakeChoice, index: number): Json {
  const { tokens } = choice;
  const shown = joinDeltas(tokens);
  const calls = toolCallsOf(tokens);
  return {
    index,
    message: {
      role: 'assistant',
      content: shown?.content ?? (calls.length > 0 || shown?.reasoning !== undefined ? null : ''),
      refusal: null,
      annotations: null,
      audio: null,
      function_call: null,
      ...(calls.length > 0 && {
        tool_calls: calls.map(({ id, ...target }) => ({ id, type: 'function', function: target })),
      }),
      reasoning: shown?.reasoning ?? null,
    },
    logprobs: logProbsJson(request, tokens),
    finish_reason: finishReasonOf(choice),
    stop_reason: choice.stopReason ?? null,
    token_ids: idsJson(request, tokens),
    routed_experts: null,
    weight_versions: null,
  };
}

const idsJson = (request: Json, tokens: readonly FakeToken[]): number[] | null =>
  wantsIds(request) ? tokens.map(({ id }) => id) : null;

function logProbsJson(request: Json, tokens: readonly FakeToken[]): Json | null {
  if (request['logprobs'] !== true) return null;
  const top = typeof request['top_logprobs'] === 'number' ? Math.min(1, request['top_logprobs']) : 0;
  return {
    content: tokens.map(({ text, id, logProb }) => {
      const token = request['return_tokens_as_token_ids'] === true ? `token_id:${id}` : text;
      const bytes = [...Buffer.from(text)];
      return { token, logprob: logProb, bytes, top_logprobs: top ? [{ token, logprob: logProb, bytes }] : [] };
    }),
  };
}

const TYPES: Readonly<Record<number, string>> = {
  400: 'BadRequestError',
  404: 'NotFoundError',
  500: 'InternalServerError',
  503: 'ServiceUnavailableError',
};

const refuse = (status: number, message: string, param: string | null = null): ErrorResponse => ({
  status,
  body: JSON.stringify({ error: { message, type: TYPES[status] ?? 'BadRequestError', param, code: status } }),
});
