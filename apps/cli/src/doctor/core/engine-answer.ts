type Json = Record<string, unknown>;

/** What an engine gave with one answer, as far as a capture needs it. */
export interface ProbeAnswer {
  readonly promptIds: readonly number[] | null;
  readonly ids: readonly number[] | null;
  /** Nats; `null` for an entry without a number, and where there are none at all. */
  readonly logProbs: readonly (number | null)[] | null;
  readonly promptTokens: number | null;
  readonly text: string;
}

/** Reads a whole chat completion of any dialect (docs/engine-calls.md §1); `null` where it is none. */
export function readProbeAnswer(body: unknown): ProbeAnswer | null {
  const completion = record(body);
  const choice = record(first(completion?.['choices']));
  if (!completion || !choice) return null;
  const extension = record(completion['sglext']);
  const content = record(choice['logprobs'])?.['content'];
  return {
    promptIds:
      numbers(completion['prompt_token_ids']) ??
      numbers(choice['prompt_token_ids']) ??
      numbers(extension?.['input_ids']),
    ids:
      numbers(choice['token_ids']) ??
      numbers(choice['response_token_ids']) ??
      numbers(choice['output_token_ids']) ??
      numbers(first(extension?.['output_ids'])),
    logProbs: Array.isArray(content) ? content.map((entry) => numberOf(record(entry)?.['logprob'])) : null,
    promptTokens: numberOf(record(completion['usage'])?.['prompt_tokens']),
    text: String(record(choice['message'])?.['content'] ?? ''),
  };
}

/**
 * Reads the events of a streamed chat completion: ids and log-probs of all its chunks together, as the gateway joins them; `null` where it
 * is no event stream.
 */
export function readStreamedProbe(stream: string): ProbeAnswer | null {
  const chunks = [...stream.matchAll(/^data: (\{.*\})$/gm)]
    .map(([, data]) => readProbeChunk(data!))
    .filter((chunk) => chunk !== null);
  if (chunks.length === 0) return null;
  const joined = <T>(pieces: readonly (readonly T[] | null)[]): T[] | null =>
    pieces.some((piece) => piece !== null) ? pieces.flatMap((piece) => piece ?? []) : null;
  return {
    promptIds: chunks.find(({ promptIds }) => promptIds)?.promptIds ?? null,
    ids: joined(chunks.map(({ ids }) => ids)),
    logProbs: joined(chunks.map(({ logProbs }) => logProbs)),
    promptTokens: chunks.find(({ promptTokens }) => promptTokens !== null)?.promptTokens ?? null,
    text: chunks.map(({ text }) => text).join(''),
  };
}

function readProbeChunk(data: string): ProbeAnswer | null {
  let chunk: Json | null;
  try {
    chunk = record(JSON.parse(data));
  } catch {
    return null;
  }
  if (!chunk) return null;
  const choice = record(first(chunk['choices']));
  // The chunk that carries SGLang's ids, and the one that carries the usage, have no choice.
  const read = readProbeAnswer({ ...chunk, choices: [choice ?? {}] })!;
  return { ...read, text: String(record(choice?.['delta'])?.['content'] ?? '') };
}

/** log π of the ids after `promptLength`, from a reply of `POST /v1/completions` with `prompt_logprobs`; `null` where it has none. */
export function readVllmScores(body: unknown, ids: readonly number[], promptLength: number): number[] | null {
  const entries = record(first(record(body)?.['choices']))?.['prompt_logprobs'];
  if (!Array.isArray(entries) || entries.length !== ids.length) return null;
  return allNumbers(
    ids
      .slice(promptLength)
      .map((id, i) => numberOf(record(record(entries[promptLength + i])?.[String(id)])?.['logprob'])),
  );
}

/** The same from a reply of SGLang's `POST /generate` with `logprob_start_len` one before the first of them. */
export function readSglangScores(body: unknown, count: number): number[] | null {
  const entries = record(record(body)?.['meta_info'])?.['input_token_logprobs'];
  if (!Array.isArray(entries) || entries.length !== count + 1) return null;
  return allNumbers(entries.slice(1).map((entry) => numberOf(first(entry))));
}

const allNumbers = (values: readonly (number | null)[]): number[] | null =>
  values.every((value) => value !== null) ? (values as number[]) : null;

const first = (value: unknown): unknown => (Array.isArray(value) ? (value as unknown[])[0] : undefined);
const record = (value: unknown): Json | null =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : null;
const numberOf = (value: unknown): number | null => (typeof value === 'number' ? value : null);
const numbers = (value: unknown): number[] | null =>
  Array.isArray(value) && value.every((entry) => typeof entry === 'number') ? (value as number[]) : null;
