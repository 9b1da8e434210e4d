import type { CompletedAnswer, ToolCall, Usage } from './answer';
import { usageOf } from './answer';
import { choiceIds, extensionIds, promptIdsIn } from './token-ids';

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

/** Puts the chunks of a streamed answer together: message, tool calls by index, sampled ids, log-probs, usage. */
export class ChunkAssembler {
  private responseId: string | null = null;
  private model: string | null = null;
  private content = '';
  private hasContent = false;
  private reasoning = '';
  private reasoningField = 'reasoning_content';
  private refusal = '';
  private readonly toolCalls = new Map<number, PartialToolCall>();
  private functionCall: PartialToolCall | null = null;
  private finishReason: string | null = null;
  private readonly finished = new Set<number>();
  private readonly choiceIndices = new Set<number>();
  private promptIds: number[] | null = null;
  private responseIds: number[] | null = null;
  private logProbs: number[] | null = null;
  private usage: Usage | null = null;

  /** Choices that have their finish reason. */
  get finishedChoices(): number {
    return this.finished.size;
  }
  get hasStarted(): boolean {
    return this.responseId !== null || this.choiceIndices.size > 0;
  }

  add(chunk: Json): void {
    if (this.responseId === null && typeof chunk['id'] === 'string' && chunk['id'] !== '')
      this.responseId = chunk['id'];
    if (this.model === null && typeof chunk['model'] === 'string') this.model = chunk['model'];
    this.usage = usageOf(chunk['usage']) ?? this.usage;
    this.promptIds ??= promptIdsIn(chunk, null);
    // SGLang gives all ids of a stream at once, after its last choice.
    this.responseIds ??= extensionIds(chunk, 0);
    for (const choice of Array.isArray(chunk['choices']) ? chunk['choices'] : [])
      if (isObject(choice)) this.addChoice(choice);
  }

  private addChoice(choice: Json): void {
    const index = typeof choice['index'] === 'number' ? choice['index'] : 0;
    this.choiceIndices.add(index);
    if (typeof choice['finish_reason'] === 'string') this.finished.add(index);
    if (index !== 0) return;
    if (typeof choice['finish_reason'] === 'string') this.finishReason = choice['finish_reason'];
    this.promptIds ??= promptIdsIn({}, choice);
    const ids = choiceIds(choice);
    if (ids) (this.responseIds ??= []).push(...ids);
    const logProbs = isObject(choice['logprobs']) ? choice['logprobs']['content'] : null;
    if (Array.isArray(logProbs)) (this.logProbs ??= []).push(...logProbs.map(logProbOf));
    if (isObject(choice['delta'])) this.addDelta(choice['delta']);
  }

  private addDelta(delta: Json): void {
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

  answer(): CompletedAnswer {
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
    return {
      responseId: this.responseId,
      model: this.model,
      message,
      finishReason: this.finishReason,
      choices: this.choiceIndices.size,
      promptIds: this.promptIds,
      responseIds: this.responseIds,
      logProbs: this.logProbs,
      usage: this.usage,
    };
  }
}

function addFunction(call: PartialToolCall, delta: unknown): void {
  if (!isObject(delta)) return;
  // The name comes once; an engine that repeats it in every delta must not double it.
  if (call.name === '') call.name = text(delta['name']);
  call.arguments += text(delta['arguments']);
}

const logProbOf = (entry: unknown): number =>
  isObject(entry) && typeof entry['logprob'] === 'number' ? entry['logprob'] : NaN;
