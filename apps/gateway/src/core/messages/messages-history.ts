import { contentOf, partsOf, partsOfContent, shown } from './content-parts';
import { listAt, objectAt, RequestFault, stringAt, type Json } from './request-fault';

/** Claude Code puts a line into the system prompt that is new in every request: no cached prefix would ever match. */
const BILLING_HEADER = /^x-anthropic-billing-header:[^\n]*\n?/gm;

/** The system prompt as a message; `null` when there is none. @throws RequestFault */
export function systemMessage(system: unknown, param = 'system'): Json | null {
  if (system === undefined || system === null) return null;
  const texts =
    typeof system === 'string'
      ? [system]
      : listAt(system, param).map((block, index) =>
          stringAt(objectAt(block, `${param}.${index}`)['text'], `${param}.${index}.text`),
        );
  const content = texts
    .map((text) => text.replace(BILLING_HEADER, ''))
    .filter((text) => text !== '')
    .join('\n');
  return content === '' ? null : { role: 'system', content };
}

/**
 * The conversation as chat messages, such that an answer that the client sends back has the canonical form of the engine's own
 * answer (`canonicalMessage`): texts are joined without anything between, tool calls keep their order and arguments. Consecutive
 * assistant messages become one, as in Anthropic's API: clients may send an answer back block by block.
 *
 * @param reasoningFields names under which the engine takes an answer's reasoning back
 * @throws RequestFault
 */
export function chatMessages(messages: unknown, reasoningFields: readonly string[]): Json[] {
  const list = listAt(messages, 'messages');
  if (list.length === 0) throw new RequestFault('messages', 'must not be empty');
  const chat: Json[] = [];
  let answer: AnswerDraft | null = null;
  for (const [index, value] of list.entries()) {
    const param = `messages.${index}`;
    const { role, content } = objectAt(value, param);
    if (role === 'assistant') {
      answer ??= { text: '', reasoning: '', calls: [] };
      addBlocks(answer, content, `${param}.content`);
      continue;
    }
    if (answer) chat.push(answerMessage(answer, reasoningFields));
    answer = null;
    if (role === 'user') for (const message of userMessages(content, `${param}.content`)) chat.push(message);
    else if (role === 'system') {
      const system = systemMessage(content, `${param}.content`);
      if (system) chat.push(system);
    } else throw new RequestFault(`${param}.role`, "must be 'user' or 'assistant'");
  }
  if (answer) chat.push(answerMessage(answer, reasoningFields));
  return chat;
}

/** Tool results become tool messages, what stands around them user messages, in order. */
function userMessages(content: unknown, param: string): Json[] {
  if (typeof content === 'string') return [{ role: 'user', content }];
  const messages: Json[] = [];
  let parts: Json[] = [];
  // A tool message holds text only; the pictures of a run of results come in the user message after it.
  let pictures: Json[] = [];
  const flush = (): void => {
    const all = [...pictures, ...parts];
    if (all.length > 0) messages.push({ role: 'user', content: contentOf(all) });
    [parts, pictures] = [[], []];
  };
  for (const [index, value] of listAt(content, param).entries()) {
    const at = `${param}.${index}`;
    const block = objectAt(value, at);
    if (block['type'] !== 'tool_result') {
      for (const part of partsOf(block, at)) parts.push(part);
      continue;
    }
    if (parts.length > 0) flush();
    const result = toolResult(block, at);
    messages.push(result.message);
    for (const picture of result.pictures) pictures.push(picture);
  }
  flush();
  return messages.length > 0 ? messages : [{ role: 'user', content: '' }];
}

function toolResult(block: Json, param: string): { message: Json; pictures: Json[] } {
  const parts = partsOfContent(block['content'] ?? '', `${param}.content`);
  const text = parts
    .filter(({ type }) => type === 'text')
    .map((part) => part['text'] as string)
    .join('\n');
  // Chat completions have no field for it.
  const isMarked = block['is_error'] === true && !/^error\b/i.test(text);
  return {
    message: {
      role: 'tool',
      tool_call_id: stringAt(block['tool_use_id'], `${param}.tool_use_id`),
      content: isMarked ? `Error: ${text}` : text,
    },
    pictures: parts.filter(({ type }) => type !== 'text'),
  };
}

/** An answer as far as it has been read. Grown in place: it may be tens of thousands of messages in a row. */
interface AnswerDraft {
  text: string;
  reasoning: string;
  readonly calls: Json[];
}

function addBlocks(draft: AnswerDraft, content: unknown, param: string): void {
  if (typeof content === 'string') {
    draft.text += content;
    return;
  }
  for (const [index, value] of listAt(content, param).entries()) {
    const at = `${param}.${index}`;
    const block = objectAt(value, at);
    switch (block['type']) {
      case 'text':
        draft.text += stringAt(block['text'], `${at}.text`);
        break;
      case 'thinking':
        draft.reasoning += stringAt(block['thinking'], `${at}.thinking`);
        break;
      case 'redacted_thinking':
        break;
      case 'tool_use':
        draft.calls.push(toolCall(block, at));
        break;
      default:
        throw new RequestFault(at, `an answer with blocks of type ${shown(block['type'])} cannot be continued here`);
    }
  }
}

function toolCall(block: Json, param: string): Json {
  const { input } = block;
  return {
    id: stringAt(block['id'], `${param}.id`),
    type: 'function',
    function: {
      name: stringAt(block['name'], `${param}.name`),
      // Arguments of an answer that were no JSON went to the client as text.
      arguments: typeof input === 'string' ? input : JSON.stringify(input === undefined ? {} : input),
    },
  };
}

function answerMessage({ text, reasoning, calls }: AnswerDraft, reasoningFields: readonly string[]): Json {
  const message: Json = { role: 'assistant', content: text === '' && calls.length > 0 ? null : text };
  if (reasoning !== '') for (const field of reasoningFields) message[field] = reasoning;
  if (calls.length > 0) message['tool_calls'] = calls;
  return message;
}
