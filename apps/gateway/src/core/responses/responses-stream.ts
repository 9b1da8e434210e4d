import type { StreamFormat } from '../client-format';
import { errorBody, type ErrorBody } from '../engine-error';
import type { SseEvent } from '../sse-parser';
import { OpenCall, OpenMessage, OpenReasoning, type OpenItem } from './open-items';
import type { ItemStatus } from './output-items';
import { isObject } from './request-refusal';
import {
  failure,
  reportedError,
  responseObject,
  responseUsage,
  stateOf,
  type ResponseContext,
} from './response-object';

type Json = Record<string, unknown>;
const text = (value: unknown): string => (typeof value === 'string' ? value : '');
const encoder = new TextEncoder();

export interface StreamSettings extends ResponseContext {
  readonly customTools: ReadonlySet<string>;
  readonly wantsLogProbs: boolean;
}

/**
 * Writes a streamed chat completion as the events of a response (platform.openai.com/docs/api-reference/responses-streaming). Message and
 * calls stay open until the answer ends, because an engine may come back to each of them; reasoning is over when something else begins.
 */
export class ResponsesStream implements StreamFormat {
  private sequence = 0;
  private written: Uint8Array[] = [];
  private hasBegun = false;
  private isOver = false;
  private model: string | null = null;
  private usage: Json | null = null;
  private finishReason: string | null = null;
  private items = 0;
  private reasoning: OpenReasoning | null = null;
  private reasonings = 0;
  private message: OpenMessage | null = null;
  private readonly calls = new Map<number, OpenCall>();
  private readonly output: Json[] = [];

  constructor(private readonly settings: StreamSettings) {}

  chunk(_: SseEvent, chunk: Json): readonly Uint8Array[] {
    if (this.isOver) return [];
    if (this.model === null && typeof chunk['model'] === 'string') this.model = chunk['model'];
    this.usage = responseUsage(chunk['usage']) ?? this.usage;
    this.begin();
    for (const choice of Array.isArray(chunk['choices']) ? chunk['choices'] : [])
      if (isObject(choice) && (choice['index'] ?? 0) === 0) this.addChoice(choice);
    return this.flush();
  }

  reported(_: SseEvent, error: unknown): readonly Uint8Array[] {
    return this.fail(reportedError(error));
  }

  failed(outcome: 'failed' | 'malformed', detail: string): readonly Uint8Array[] {
    const code = outcome === 'malformed' ? 'engine-invalid-response' : 'engine-stream-broken';
    return this.fail(errorBody(detail, 'server_error', code).error);
  }

  done(): readonly Uint8Array[] {
    if (this.isOver) return [];
    this.begin();
    const state = stateOf(this.finishReason);
    if (state.error) return this.fail(errorBody(state.error.message, 'server_error', 'engine-stream-broken').error);
    this.closeReasoning('completed');
    this.openCalls(true);
    if (!this.message && this.calls.size === 0) this.openMessage();
    const open: OpenItem[] = [...(this.message ? [this.message] : []), ...this.calls.values()];
    open.sort((a, b) => a.outputIndex - b.outputIndex);
    open.forEach((item, index) => {
      const isCut = state.status === 'incomplete' && index === open.length - 1;
      this.output[item.outputIndex] = item.close(isCut ? 'incomplete' : 'completed');
    });
    this.isOver = true;
    this.emit(`response.${state.status}`, { response: this.response(state) });
    return this.flush();
  }

  private begin(): void {
    if (this.hasBegun) return;
    this.hasBegun = true;
    const response = this.response({ status: 'in_progress' });
    this.emit('response.created', { response });
    this.emit('response.in_progress', { response });
  }

  private addChoice(choice: Json): void {
    if (typeof choice['finish_reason'] === 'string') this.finishReason = choice['finish_reason'];
    const delta = choice['delta'];
    if (!isObject(delta)) return;
    this.addReasoning(text(delta['reasoning_content']) || text(delta['reasoning']));
    const said = text(delta['content']);
    if (said !== '') this.openMessage().addText(said, this.logProbsOf(choice));
    const refusal = text(delta['refusal']);
    if (refusal !== '') this.openMessage().addRefusal(refusal);
    (Array.isArray(delta['tool_calls']) ? delta['tool_calls'] : []).forEach((call: unknown, position) => {
      if (isObject(call)) this.addCall(call, position);
    });
  }

  private addReasoning(delta: string): void {
    if (delta === '') return;
    this.reasoning ??= new OpenReasoning(this.emit, this.settings.answerId, this.reasonings++, this.items++);
    this.reasoning.add(delta);
  }

  private closeReasoning(status: ItemStatus): void {
    if (!this.reasoning) return;
    this.output[this.reasoning.outputIndex] = this.reasoning.close(status);
    this.reasoning = null;
  }

  private openMessage(): OpenMessage {
    this.closeReasoning('completed');
    return (this.message ??= new OpenMessage(this.emit, this.settings.answerId, this.items++));
  }

  private addCall(call: Json, position: number): void {
    this.closeReasoning('completed');
    const index = typeof call['index'] === 'number' ? call['index'] : position;
    const { answerId, customTools } = this.settings;
    if (!this.calls.has(index)) this.calls.set(index, new OpenCall(this.emit, answerId, index, customTools));
    const target = isObject(call['function']) ? call['function'] : {};
    this.calls.get(index)!.add(text(call['id']), text(target['name']), text(target['arguments']));
    this.openCalls(false);
  }

  /** In the order of their indices, which is the order that the answer is captured in. */
  private openCalls(isLast: boolean): void {
    const waiting = [...this.calls.entries()].filter(([, call]) => !call.isOpen).sort(([a], [b]) => a - b);
    let next = this.calls.size - waiting.length;
    for (const [index, call] of waiting) {
      if (!isLast && (index !== next || !call.hasName)) return;
      call.openAt(this.items++);
      next++;
    }
  }

  private logProbsOf(choice: Json): readonly unknown[] {
    const logprobs = choice['logprobs'];
    return this.settings.wantsLogProbs && isObject(logprobs) && Array.isArray(logprobs['content'])
      ? logprobs['content']
      : [];
  }

  /**
   * OpenAI's clients throw at an event that holds `error`, as OpenAI's servers send it; its documentation has the same fields on the event
   * itself. Of the answer nothing is repeated: what is broken must not pass for an answer.
   */
  private fail(error: ErrorBody['error']): readonly Uint8Array[] {
    if (this.isOver) return [];
    this.begin();
    this.isOver = true;
    const { code, message, param } = error;
    this.emit('error', { code, message, param, error });
    const response = responseObject(this.settings, {
      status: 'failed',
      model: this.model,
      output: [],
      usage: this.usage,
      error: failure(message),
    });
    this.emit('response.failed', { response });
    return this.flush();
  }

  private response(state: ReturnType<typeof stateOf> | { readonly status: 'in_progress' }): Json {
    const { model, usage, output } = this;
    return responseObject(this.settings, { ...state, model, usage, output: [...output] });
  }

  private readonly emit = (type: string, fields: Json): void => {
    const event = { type, sequence_number: this.sequence++, ...fields };
    this.written.push(encoder.encode(`event: ${type}\ndata: ${JSON.stringify(event)}\n\n`));
  };

  private flush(): readonly Uint8Array[] {
    const written = this.written;
    this.written = [];
    return written;
  }
}
