import type { ChoiceAnswer, ToolCall } from './answer';
import { finishReasonOf, logProbsOf, roleFault, tokensOf } from './answer';
import type { TokenEntry } from './token-entry';
import { choiceIds } from './token-ids';

type Json = Record<string, unknown>;

interface PartialToolCall {
  id: string | null;
  type: string;
  name: string;
  arguments: string;
}

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const text = (value: unknown): string => (typeof value === 'string' ? value : '');

/** One by one: as arguments of one call, the ids of a long answer would not fit on the stack. */
function append<T>(list: T[], more: readonly T[]): void {
  for (let index = 0; index < more.length; index++) list.push(more[index]!);
}

/** Puts one choice of a streamed answer together: message, tool calls by index, sampled ids, log-probs. */
export class ChoiceAssembler {
  private content = '';
  private hasContent = false;
  private reasoning = '';
  private reasoningField = 'reasoning_content';
  private refusal = '';
  private readonly toolCalls = new Map<number, PartialToolCall>();
  private functionCall: PartialToolCall | null = null;
  private finishReason: string | null = null;
  private fault: string | null = null;
  private responseIds: number[] | null = null;
  private logProbs: number[] | null = null;
  private tokens: TokenEntry[] | null = null;

  get isFinished(): boolean {
    return this.finishReason !== null;
  }

  /** @param choice an entry of a chunk's `choices` */
  add(choice: Json): void {
    this.finishReason = finishReasonOf(choice) ?? this.finishReason;
    const ids = choiceIds(choice);
    if (ids) append((this.responseIds ??= []), ids);
    const logProbs = logProbsOf(choice);
    if (logProbs) append((this.logProbs ??= []), logProbs);
    const tokens = ids ? null : tokensOf(choice);
    if (tokens) append((this.tokens ??= []), tokens);
    if (isObject(choice['delta'])) this.addDelta(choice['delta']);
  }

  /** What `add` does for a choice with nothing but these. */
  addTokens(content: string, ids: readonly number[], logProbs: readonly number[]): void {
    append((this.responseIds ??= []), ids);
    append((this.logProbs ??= []), logProbs);
    this.content += content;
    this.hasContent = true;
  }

  /** Ids that came all at once, beside the choices. */
  addIds(ids: number[] | null): void {
    this.responseIds ??= ids;
  }

  private addDelta(delta: Json): void {
    this.fault ??= roleFault(delta);
    if (typeof delta['content'] === 'string') {
      this.content += delta['content'];
      this.hasContent = true;
    }
    for (const field of ['reasoning_content', 'reasoning']) {
      if (typeof delta[field] === 'string' && delta[field] !== '') {
        this.reasoning += delta[field];
        this.reasoningField = field;
        break;
      }
    }
    this.refusal += text(delta['refusal']);
    const calls = Array.isArray(delta['tool_calls']) ? delta['tool_calls'] : [];
    calls.forEach((call: unknown, position) => {
      if (!isObject(call)) return;
      const index = typeof call['index'] === 'number' ? call['index'] : position;
      const known = this.toolCalls.get(index) ?? { id: null, type: 'function', name: '', arguments: '' };
      this.toolCalls.set(index, known);
      if (typeof call['id'] === 'string' && call['id'] !== '') known.id ??= call['id'];
      if (typeof call['type'] === 'string') known.type = call['type'];
      addFunction(known, call['function']);
    });
    if (isObject(delta['function_call'])) {
      this.functionCall ??= { id: null, type: 'function', name: '', arguments: '' };
      addFunction(this.functionCall, delta['function_call']);
    }
  }

  answer(): ChoiceAnswer {
    const calls = [...this.toolCalls.entries()]
      .sort(([a], [b]) => a - b)
      .map(([, call]): ToolCall => ({
        id: call.id,
        type: call.type,
        function: { name: call.name, arguments: call.arguments },
      }));
    const message: Json = { role: 'assistant', content: this.hasContent ? this.content : null };
    if (this.reasoning !== '') message[this.reasoningField] = this.reasoning;
    if (this.refusal !== '') message['refusal'] = this.refusal;
    if (calls.length > 0) message['tool_calls'] = calls;
    if (this.functionCall)
      message['function_call'] = { name: this.functionCall.name, arguments: this.functionCall.arguments };
    const { finishReason, responseIds, logProbs, tokens, fault } = this;
    return {
      message,
      finishReason,
      responseIds,
      logProbs,
      ...(tokens && !responseIds && { tokens }),
      ...(fault !== null && { fault }),
    };
  }
}

function addFunction(call: PartialToolCall, delta: unknown): void {
  if (!isObject(delta)) return;
  // The name comes once; an engine that repeats it in every delta must not double it.
  if (call.name === '') call.name = text(delta['name']);
  call.arguments += text(delta['arguments']);
}
