import {
  callItem,
  messageItem,
  reasoningItem,
  refusalPart,
  textPart,
  type AnswerCall,
  type ItemStatus,
} from './output-items';
import { isObject } from './request-refusal';
import { callId } from './response-ids';

type Json = Record<string, unknown>;
/** Sends one event. */
export type Emit = (type: string, fields: Json) => void;

/** An item of a streamed answer. */
export interface OpenItem {
  readonly outputIndex: number;
  /** Sends what ends the item and gives it as it is in the response's output. */
  close(status: ItemStatus): Json;
}

const added = (emit: Emit, outputIndex: number, item: Json): void =>
  emit('response.output_item.added', { output_index: outputIndex, item });
const done = (emit: Emit, outputIndex: number, item: Json): Json => {
  emit('response.output_item.done', { output_index: outputIndex, item });
  return item;
};

/** Reasoning as the model gives it: events `response.reasoning_text.…` in a part of type `reasoning_text`. */
export class OpenReasoning implements OpenItem {
  private thought = '';
  private readonly place: Json;

  constructor(
    private readonly emit: Emit,
    private readonly turnId: string,
    private readonly index: number,
    readonly outputIndex: number,
  ) {
    const item = reasoningItem(turnId, index, '', 'in_progress');
    this.place = { item_id: item['id'], output_index: outputIndex, content_index: 0 };
    added(emit, outputIndex, item);
    emit('response.content_part.added', { ...this.place, part: { type: 'reasoning_text', text: '' } });
  }

  add(delta: string): void {
    this.thought += delta;
    this.emit('response.reasoning_text.delta', { ...this.place, delta });
  }

  close(status: ItemStatus): Json {
    this.emit('response.reasoning_text.done', { ...this.place, text: this.thought });
    this.emit('response.content_part.done', { ...this.place, part: { type: 'reasoning_text', text: this.thought } });
    return done(this.emit, this.outputIndex, reasoningItem(this.turnId, this.index, this.thought, status));
  }
}

interface OpenPart {
  readonly isText: boolean;
  text: string;
  readonly logprobs: unknown[];
}

/** The answer's text, and a refusal beside it or in its place: one part each. */
export class OpenMessage implements OpenItem {
  private readonly parts: OpenPart[] = [];
  private readonly id: unknown;

  constructor(
    private readonly emit: Emit,
    private readonly turnId: string,
    private readonly index: number,
    readonly outputIndex: number,
  ) {
    const item = this.item('in_progress');
    this.id = item['id'];
    added(emit, outputIndex, item);
  }

  addText(delta: string, logprobs: readonly unknown[]): void {
    const part = this.part(true);
    part.text += delta;
    for (const entry of logprobs) part.logprobs.push(entry);
    this.emit('response.output_text.delta', { ...this.placeOf(part), delta, logprobs });
  }

  addRefusal(delta: string): void {
    const part = this.part(false);
    part.text += delta;
    this.emit('response.refusal.delta', { ...this.placeOf(part), delta });
  }

  /** A message that has said nothing has one empty text. */
  close(status: ItemStatus): Json {
    if (this.parts.length === 0) this.part(true);
    for (const part of this.parts) {
      const place = this.placeOf(part);
      if (part.isText) this.emit('response.output_text.done', { ...place, text: part.text, logprobs: part.logprobs });
      else this.emit('response.refusal.done', { ...place, refusal: part.text });
      this.emit('response.content_part.done', { ...place, part: partOf(part) });
    }
    return done(this.emit, this.outputIndex, this.item(status));
  }

  private part(isText: boolean): OpenPart {
    const known = this.parts.find((part) => part.isText === isText);
    if (known) return known;
    const part: OpenPart = { isText, text: '', logprobs: [] };
    this.parts.push(part);
    this.emit('response.content_part.added', { ...this.placeOf(part), part: partOf(part) });
    return part;
  }

  private placeOf(part: OpenPart): Json {
    return { item_id: this.id, output_index: this.outputIndex, content_index: this.parts.indexOf(part) };
  }

  private item(status: ItemStatus): Json {
    return messageItem(this.turnId, this.index, this.parts.map(partOf), status);
  }
}

const partOf = (part: OpenPart): Json =>
  part.isText ? textPart(part.text, [...part.logprobs]) : refusalPart(part.text);

/** A tool call. What the engine says of it before it is its turn is kept. */
export class OpenCall implements OpenItem {
  outputIndex = -1;
  private id = '';
  private name = '';
  private written = '';
  private isClosed = false;
  /** Whether the arguments may be whole, by their end; what was parsed once in vain is not parsed again. */
  private mayBeWhole = false;

  constructor(
    private readonly emit: Emit,
    private readonly turnId: string,
    private readonly index: number,
    private readonly custom: ReadonlySet<string>,
  ) {}

  get hasName(): boolean {
    return this.name !== '';
  }
  get isOpen(): boolean {
    return this.outputIndex >= 0;
  }
  /** Whether the arguments are whole, so that nothing more can follow. */
  get isWhole(): boolean {
    if (!this.mayBeWhole) return false;
    try {
      return isObject(JSON.parse(this.written));
    } catch {
      this.mayBeWhole = false;
      return false;
    }
  }

  /** Id and name come once; an engine that repeats them says nothing new. */
  add(id: string, name: string, delta: string): void {
    if (this.isClosed) return;
    this.id ||= id;
    this.name ||= name;
    this.written += delta;
    const end = delta.trimEnd();
    if (end !== '') this.mayBeWhole = end.endsWith('}');
    if (this.isOpen) this.sendDelta(delta);
  }

  openAt(outputIndex: number): void {
    this.outputIndex = outputIndex;
    added(this.emit, outputIndex, this.item({ ...this.call, arguments: '' }, 'in_progress'));
    this.sendDelta(this.written);
  }

  close(status: ItemStatus): Json {
    this.isClosed = true;
    const item = this.item(this.call, status);
    const place = { item_id: item['id'], output_index: this.outputIndex };
    if (item['type'] === 'custom_tool_call') {
      // The text stands inside JSON that is whole only now.
      this.emit('response.custom_tool_call_input.delta', { ...place, delta: item['input'] });
      this.emit('response.custom_tool_call_input.done', { ...place, input: item['input'] });
    } else {
      this.emit('response.function_call_arguments.done', { ...place, arguments: this.written, name: this.name });
    }
    return done(this.emit, this.outputIndex, item);
  }

  private get call(): AnswerCall {
    return { id: this.id || callId(this.turnId, this.index), name: this.name, arguments: this.written };
  }

  private item(call: AnswerCall, status: ItemStatus): Json {
    return callItem(this.turnId, this.index, call, status, this.custom);
  }

  private sendDelta(delta: string): void {
    if (delta === '' || this.custom.has(this.name)) return;
    const { id } = this.item(this.call, 'in_progress');
    this.emit('response.function_call_arguments.delta', { item_id: id, output_index: this.outputIndex, delta });
  }
}
