type Json = Record<string, unknown>;

/** What an engine's parsers add to the message at one step. */
export interface FakeDelta {
  readonly content?: string;
  readonly reasoning?: string;
  readonly toolCalls?: readonly FakeToolDelta[];
}

/** A piece of a tool call: its first names it, all carry a piece of its arguments. */
export interface FakeToolDelta {
  readonly index: number;
  readonly id?: string;
  readonly name?: string;
  readonly arguments?: string;
}

export interface FakeToken {
  /** Decoded alone. */
  readonly text: string;
  readonly id: number;
  /** Nats; `null` where the engine writes null. */
  readonly logProb: number | null;
  /** What the client sees of it; by default its text, as content. `null`: nothing, as of a control token. */
  readonly delta?: FakeDelta | null;
}

/** One choice of an answer. */
export interface FakeChoice {
  readonly tokens: readonly FakeToken[];
  /** By default `tool_calls` where there are any, else `stop`. */
  readonly finishReason?: string;
  /** vLLM's `stop_reason`, SGLang's `matched_stop`. */
  readonly stopReason?: number | string;
}

export interface FakeAnswer extends FakeChoice {
  readonly promptIds?: readonly number[];
  /** Overrides of what the engine says it counted. */
  readonly usage?: { prompt_tokens: number; completion_tokens: number };
  readonly id?: string;
  /** The choices after the first, for `n` > 1. */
  readonly others?: readonly FakeChoice[];
  /** Tokens of each streamed step; one where it says nothing. */
  readonly steps?: readonly number[];
}

export interface ErrorResponse {
  readonly status: number;
  readonly body: string;
}

/** One engine's dialect: what it writes for an answer, byte for byte. */
export interface EngineWire {
  readonly owner: string;
  /** Why the server refuses the request before it answers, or `null`. */
  refusal(request: Json): ErrorResponse | null;
  /** Events of a stream, in order, each with its blank line. */
  events(request: Json, answer: FakeAnswer, id: string): string[];
  /** A whole answer. */
  whole(request: Json, answer: FakeAnswer, id: string): Json;
  /** The JSON of a whole answer. */
  write(body: unknown): string;
  error(status: number, message: string): ErrorResponse;
  /** Events that end a stream in which the engine failed. */
  brokenStream(status: number, message: string): string[];
}

/** How a serializer writes a float; they differ below 1e-4. */
export type FloatSpelling = 'rust' | 'python';

/** Compact JSON as pydantic, msgspec and Python's `json` write it: a float keeps its point. Only log-probs are floats. */
export function writeJson(value: unknown, spelling: FloatSpelling, key = ''): string {
  if (typeof value === 'number' && key === 'logprob') return writeFloat(value, spelling);
  if (Array.isArray(value)) return `[${value.map((entry) => writeJson(entry, spelling)).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .map(([name, member]) => `${JSON.stringify(name)}:${writeJson(member, spelling, name)}`);
  return `{${members.join(',')}}`;
}

/** Shortest digits that give the float back. Rust's writers change to an exponent below 1e-5, Python below 1e-4. */
export function writeFloat(value: number, spelling: FloatSpelling): string {
  if (!Number.isFinite(value)) return spelling === 'rust' ? 'null' : String(value);
  if (Object.is(value, -0)) return '-0.0';
  if (Number.isInteger(value)) return `${value}.0`;
  const size = Math.abs(value);
  if (size >= (spelling === 'rust' ? 1e-5 : 1e-4)) return String(value);
  const [digits, exponent] = value.toExponential().split('e-') as [string, string];
  return `${digits}e-${spelling === 'python' ? exponent.padStart(2, '0') : exponent}`;
}

/** Python's `json.dumps` with its defaults: spaces after `:` and `,`, everything beyond ASCII escaped. */
export function writePythonJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(writePythonJson).join(', ')}]`;
  if (typeof value !== 'object' || value === null)
    return JSON.stringify(value).replace(
      /[\u007f-\uffff]/g,
      (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
    );
  return `{${Object.entries(value)
    .map(([name, member]) => `${writePythonJson(name)}: ${writePythonJson(member)}`)
    .join(', ')}}`;
}

export const choicesOf = (answer: FakeAnswer): readonly FakeChoice[] => [answer, ...(answer.others ?? [])];

export const promptIdsOf = (answer: FakeAnswer): readonly number[] => answer.promptIds ?? [1, 2, 3];

const deltaOf = ({ delta, text }: FakeToken): FakeDelta | null => (delta === undefined ? { content: text } : delta);

/** The deltas of some tokens as one; `null` when they show nothing. */
export function joinDeltas(tokens: readonly FakeToken[]): FakeDelta | null {
  const deltas = tokens.map(deltaOf).filter((delta) => delta !== null);
  if (deltas.length === 0) return null;
  const joined = (field: 'content' | 'reasoning'): string | undefined => {
    const texts = deltas.map((delta) => delta[field]).filter((text) => text !== undefined);
    return texts.length === 0 ? undefined : texts.join('');
  };
  const content = joined('content');
  const reasoning = joined('reasoning');
  const toolCalls = deltas.flatMap((delta) => delta.toolCalls ?? []);
  return {
    ...(content !== undefined && { content }),
    ...(reasoning !== undefined && { reasoning }),
    ...(toolCalls.length > 0 && { toolCalls }),
  };
}

/** The tool calls that a choice's deltas add up to, by index. */
export function toolCallsOf(tokens: readonly FakeToken[]): { id: string; name: string; arguments: string }[] {
  const calls = new Map<number, { id: string; name: string; arguments: string }>();
  for (const piece of joinDeltas(tokens)?.toolCalls ?? []) {
    const call = calls.get(piece.index) ?? { id: '', name: '', arguments: '' };
    calls.set(piece.index, {
      id: call.id || (piece.id ?? ''),
      name: call.name || (piece.name ?? ''),
      arguments: call.arguments + (piece.arguments ?? ''),
    });
  }
  return [...calls.entries()].sort(([a], [b]) => a - b).map(([, call]) => call);
}

/** A choice's tokens in the steps of its stream. */
export function stepsOf({ tokens }: FakeChoice, sizes: readonly number[] = []): FakeToken[][] {
  const steps: FakeToken[][] = [];
  for (let start = 0; start < tokens.length;) {
    const size = Math.max(1, sizes[steps.length] ?? 1);
    steps.push(tokens.slice(start, start + size));
    start += size;
  }
  return steps.length > 0 ? steps : [[]];
}

export const finishReasonOf = (choice: FakeChoice): string =>
  choice.finishReason ?? (joinDeltas(choice.tokens)?.toolCalls ? 'tool_calls' : 'stop');

export function countsOf(answer: FakeAnswer): {
  prompt_tokens: number;
  total_tokens: number;
  completion_tokens: number;
} {
  const sampled = choicesOf(answer).reduce((sum, { tokens }) => sum + tokens.length, 0);
  const counted = answer.usage ?? { prompt_tokens: promptIdsOf(answer).length, completion_tokens: sampled };
  const { prompt_tokens: prompt, completion_tokens: completion } = counted;
  return { prompt_tokens: prompt, total_tokens: prompt + completion, completion_tokens: completion };
}
