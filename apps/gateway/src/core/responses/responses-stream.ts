import type { StreamFormat } from '../client-format';
import { errorBody, type ErrorBody } from '../engine-error';
import type { SseEvent } from '../sse-parser';
import { OpenCall, OpenMessage, OpenReasoning } from './open-items';
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

interface SaidText {
  text: string;
  logprobs: unknown[];
}

/**
 * Writes a streamed chat completion as the events of a response (platform.openai.com/docs/api-reference/responses-streaming). One item is
 * open at a time, in the order reasoning, message, calls: there are clients that follow no other. What an engine says of another item
 * meanwhile waits for its turn.
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
  private open: OpenReasoning | OpenMessage | OpenCall | null = null;
  private readonly calls = new Map<number, OpenCall>();
  private callsDone = 0;
  private messages = 0;
  private reasonings = 0;
  /** Text that is white space so far: it opens no message. */
  private readonly held: SaidText = { text: '', logprobs: [] };
  /** What came of message and reasoning when they were over. */
  private readonly late = { said: { text: '', logprobs: [] } as SaidText, refusal: '', thought: '' };
  private readonly output: Json[] = [];

  constructor(private readonly settings: StreamSettings) {}

  chunk(_: SseEvent, chunk: Json): readonly Uint8Array[] {
    if (this.isOver) return [];
    if (this.model === null && typeof chunk['model'] === 'string') this.model = chunk['model'];
    this.usage = responseUsage(chunk['usage']) ?? this.usage;
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
    const state = stateOf(this.finishReason);
    if (state.error) return this.fail(errorBody(state.error.message, 'server_error', 'engine-stream-broken').error);
    this.openRest();
    this.closeOpen(state.status === 'incomplete' ? 'incomplete' : 'completed');
    this.isOver = true;
    this.emit(`response.${state.status}`, { response: this.response(state) });
    return this.flush();
  }

  /** Not before there is something to say: an engine that fails until then is told by a status. */
  private begin(): void {
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
    this.addText(text(delta['content']), this.logProbsOf(choice));
    this.addRefusal(text(delta['refusal']));
    (Array.isArray(delta['tool_calls']) ? delta['tool_calls'] : []).forEach((call: unknown, position) => {
      if (isObject(call)) this.addCall(call, position);
    });
  }

  private addReasoning(delta: string): void {
    if (delta === '') return;
    if (this.items === 0 && this.calls.size === 0) this.openReasoning();
    if (this.open instanceof OpenReasoning) this.open.add(delta);
    else this.late.thought += delta;
  }

  private addText(delta: string, logprobs: readonly unknown[]): void {
    if (delta === '') return;
    if (this.open instanceof OpenMessage) return this.open.addText(delta, logprobs);
    const kept = this.calls.size > 0 ? this.late.said : this.held;
    kept.text += delta;
    for (const entry of logprobs) kept.logprobs.push(entry);
    // What was held before is white space.
    if (kept === this.held && delta.trim() !== '') this.openMessage().addText(kept.text, kept.logprobs);
  }

  private addRefusal(delta: string): void {
    if (delta === '') return;
    if (this.calls.size > 0) this.late.refusal += delta;
    else (this.open instanceof OpenMessage ? this.open : this.openMessage()).addRefusal(delta);
  }

  private addCall(call: Json, position: number): void {
    if (this.calls.size === 0) this.closeOpen('completed');
    const index = typeof call['index'] === 'number' ? call['index'] : position;
    const { answerId, customTools } = this.settings;
    if (!this.calls.has(index)) this.calls.set(index, new OpenCall(this.emit, answerId, index, customTools));
    const target = isObject(call['function']) ? call['function'] : {};
    this.calls.get(index)!.add(text(call['id']), text(target['name']), text(target['arguments']));
    this.advance();
  }

  /** Opens the call whose turn it is, and the next one as soon as that is whole. */
  private advance(): void {
    for (;;) {
      const next = this.calls.get(this.callsDone);
      if (!next) return;
      if (!next.isOpen) {
        if (!next.hasName) return;
        next.openAt(this.items++);
        this.open = next;
      }
      if (!this.calls.has(this.callsDone + 1) || !next.isWhole) return;
      this.closeOpen('completed');
      this.callsDone++;
    }
  }

  /** The answer is over: all that waits has its turn, the last item stays open. */
  private openRest(): void {
    for (const [, call] of [...this.calls].sort(([a], [b]) => a - b)) {
      if (call.isOpen) continue;
      this.closeOpen('completed');
      call.openAt(this.items++);
      this.open = call;
    }
    const { said, refusal, thought } = this.late;
    if (said.text.trim() !== '' || refusal !== '') {
      const message = this.openMessage();
      if (said.text.trim() !== '') message.addText(said.text, said.logprobs);
      if (refusal !== '') message.addRefusal(refusal);
    }
    if (thought !== '') this.openReasoning().add(thought);
    if (this.calls.size > 0 || this.messages > 0) return;
    const message = this.openMessage();
    if (this.held.text !== '') message.addText(this.held.text, this.held.logprobs);
  }

  private openReasoning(): OpenReasoning {
    this.closeOpen('completed');
    const reasoning = new OpenReasoning(this.emit, this.settings.answerId, this.reasonings++, this.items++);
    this.open = reasoning;
    return reasoning;
  }

  private openMessage(): OpenMessage {
    this.closeOpen('completed');
    const message = new OpenMessage(this.emit, this.settings.answerId, this.messages++, this.items++);
    this.open = message;
    return message;
  }

  private closeOpen(status: ItemStatus): void {
    if (this.open) this.output.push(this.open.close(status));
    this.open = null;
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
    if (!this.hasBegun) this.begin();
    const event = { type, sequence_number: this.sequence++, ...fields };
    this.written.push(encoder.encode(`event: ${type}\ndata: ${JSON.stringify(event)}\n\n`));
  };

  private flush(): readonly Uint8Array[] {
    const written = this.written;
    this.written = [];
    return written;
  }
}
