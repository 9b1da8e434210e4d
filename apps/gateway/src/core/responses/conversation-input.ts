import { chatContent, chatParts, reasoningText, saidParts, shown } from './content-parts';
import { answerMessage, outputItems } from './output-items';
import { RequestRefusal, objectAt, textAt } from './request-refusal';
import { turnOfItem } from './response-ids';
import { customArguments } from './response-tools';

type Json = Record<string, unknown>;

/** An answer of before, as it was captured. */
export interface PastAnswer {
  /** The messages that it answered. */
  readonly messages: readonly Json[];
  /** The engine's assistant message. */
  readonly answer: Json;
}

/** The assistant message that is being put together. */
interface OpenAnswer {
  readonly message: Json;
  turnId: string | null;
}

/**
 * Puts a conversation of items together as chat messages. An answer of ours left as several items (reasoning, message, calls) and must
 * become one assistant message again, or it would not be found: their ids say which belong together, and without ids their order does.
 */
export class ConversationInput {
  readonly messages: Json[] = [];
  private readonly answers = new Map<string, Json>();
  /** Answers that are there as a whole; what a client repeats of them says nothing new. */
  private readonly whole = new Set<string>();
  private readonly referenced = new Map<string, ReadonlyMap<string, Json>>();
  private open: OpenAnswer | null = null;

  constructor(private readonly past: ReadonlyMap<string, PastAnswer>) {}

  /** The conversation up to and including an answer. Its instructions do not carry over. */
  addPast(turnId: string, { messages, answer }: PastAnswer): void {
    const [first] = messages;
    // The instructions are the only system message whose content is a plain text.
    const hasInstructions = first?.['role'] === 'system' && typeof first['content'] === 'string';
    for (const message of hasInstructions ? messages.slice(1) : messages) this.messages.push(message);
    this.messages.push(answerMessage(turnId, answer));
    this.whole.add(turnId);
  }

  /** @throws RequestRefusal */
  addItem(value: unknown, param: string): void {
    const item = objectAt(value, param);
    const type =
      item['type'] ?? (item['role'] === undefined && item['id'] !== undefined ? 'item_reference' : 'message');
    const turnId = turnOfItem(item['id']);
    if (turnId !== null && this.whole.has(turnId)) return;
    switch (type) {
      case 'message':
        return this.addMessage(item, turnId, param);
      case 'reasoning':
        return this.addReasoning(item, turnId);
      case 'function_call':
        return this.addCall(item, turnId, textAt(item['arguments'], `${param}.arguments`), param);
      case 'custom_tool_call':
        return this.addCall(item, turnId, customArguments(textAt(item['input'], `${param}.input`)), param);
      case 'function_call_output':
      case 'custom_tool_call_output':
        return this.addResult(item, param);
      case 'item_reference':
        return this.addReferenced(item['id'], turnId, param);
      default:
        throw new RequestRefusal(`${param}: items of type ${shown(type)} are not supported`, `${param}.type`);
    }
  }

  private addMessage(item: Json, turnId: string | null, param: string): void {
    const { role, content } = item;
    if (role === 'assistant') {
      const message = this.answerOf(turnId, 'message');
      const { text, refusal } = saidParts(content, `${param}.content`);
      if (text !== null) message['content'] = ((message['content'] as string | null) ?? '') + text;
      if (refusal !== null) message['refusal'] = refusal;
      return;
    }
    if (role !== 'user' && role !== 'system' && role !== 'developer')
      throw new RequestRefusal(`${param}.role must be one of user, assistant, system, developer`, `${param}.role`);
    const read = role === 'system' ? chatParts : chatContent;
    this.push({ role, content: read(content, `${param}.content`) });
  }

  private addReasoning(item: Json, turnId: string | null): void {
    const text = reasoningText(item);
    if (text === '') return;
    const message = this.answerOf(turnId, 'reasoning');
    const before = message['reasoning_content'];
    const all = typeof before === 'string' ? `${before}\n${text}` : text;
    // vLLM reads `reasoning`, SGLang and older engines `reasoning_content`.
    Object.assign(message, { reasoning_content: all, reasoning: all });
  }

  private addCall(item: Json, turnId: string | null, written: string, param: string): void {
    const message = this.answerOf(turnId, 'call');
    const call = {
      id: textAt(item['call_id'], `${param}.call_id`),
      type: 'function',
      function: { name: textAt(item['name'], `${param}.name`), arguments: written },
    };
    // In place: a conversation may be one answer of tens of thousands of calls.
    ((message['tool_calls'] ??= []) as Json[]).push(call);
  }

  private addResult(item: Json, param: string): void {
    this.push({
      role: 'tool',
      tool_call_id: textAt(item['call_id'], `${param}.call_id`),
      content: chatContent(item['output'], `${param}.output`),
    });
  }

  private addReferenced(id: unknown, turnId: string | null, param: string): void {
    const known = turnId === null ? undefined : this.itemsOf(turnId);
    // What the client knows as the call of a custom tool is a function's call here.
    const wanted = (typeof id === 'string' ? id : '').replace(/^ctc_/, 'fc_');
    const item = known?.get(wanted);
    // Text or reasoning that was streamed in two items stands in the first.
    if (known && !item && /^(?:rs|msg)_/.test(wanted)) return;
    if (!item) throw new RequestRefusal(`Item with id '${shown(id)}' not found.`, param, 404, null);
    this.addItem(item, param);
  }

  /** The items of an answer of before by their ids. */
  private itemsOf(turnId: string): ReadonlyMap<string, Json> | undefined {
    const known = this.referenced.get(turnId);
    const past = this.past.get(turnId);
    if (known || !past) return known;
    const items = new Map(outputItems(turnId, past.answer).map((item) => [String(item['id']), item]));
    this.referenced.set(turnId, items);
    return items;
  }

  private push(message: Json): void {
    this.open = null;
    this.messages.push(message);
  }

  /** The assistant message that a part of an answer belongs to. */
  private answerOf(turnId: string | null, part: 'reasoning' | 'message' | 'call'): Json {
    const known = turnId === null ? undefined : this.answers.get(turnId);
    if (known) return known;
    const isSame = this.open !== null && (turnId === null || this.open.turnId === null);
    if (!isSame || !fits(this.open!.message, part)) {
      const message: Json = { role: 'assistant', content: null };
      this.push(message);
      this.open = { message, turnId: null };
    }
    this.open!.turnId ??= turnId;
    if (turnId !== null) this.answers.set(turnId, this.open!.message);
    return this.open!.message;
  }
}

/**
 * An answer is reasoning, then text, then calls; what comes out of that order is the next answer's. But text right after calls is
 * still the same: no answer follows calls without their results.
 */
function fits(message: Json, part: 'reasoning' | 'message' | 'call'): boolean {
  if (part === 'call') return true;
  const hasText = message['content'] !== null || message['refusal'] !== undefined;
  const hasCalls = message['tool_calls'] !== undefined;
  return part === 'message' ? !hasText || hasCalls : !hasText && !hasCalls;
}
