import type { ChatTemplate } from '@hindcast/language-model';

/**
 * How a model writes that it calls a tool:
 * `marked` (Qwen, Hermes): `<tool_call>{"name": …, "arguments": {…}}</tool_call>`, any number of them, behind or between text;
 * `json` (Llama 3): the whole answer is `{"name": …, "parameters": {…}}`, or several of those with `;` between them.
 */
export type ToolDialect = 'marked' | 'json';

export interface ToolCall {
  readonly name: string;
  /** JSON text, as OpenAI's clients expect it. */
  readonly arguments: string;
}

/** What became certain with a piece of an answer: text to show, and calls that are complete. */
export interface ToolStep {
  readonly content: string;
  readonly calls: readonly ToolCall[];
}

const OPEN = '<tool_call>';
const CLOSE = '</tool_call>';
const SEPARATOR = /^\s*;\s*/;

/** Finds out by showing the template a call; null for one that writes calls in another way, or not at all. */
export function toolDialectOf(template: Pick<ChatTemplate, 'render'>): ToolDialect | null {
  const call = { type: 'function', id: 'call00000', function: { name: 'probe_name', arguments: '{"probe_key":1}' } };
  const description = { name: 'probe_name', description: 'p', parameters: { type: 'object', properties: {} } };
  let text: string;
  try {
    text = template.render(
      [
        { role: 'user', content: 'p' },
        { role: 'assistant', content: '', tool_calls: [call] },
      ],
      { tools: [{ type: 'function', function: description }], addGenerationPrompt: false },
    );
  } catch {
    return null;
  }
  // The last place: templates explain the form before.
  const at = text.lastIndexOf('probe_key');
  const before = text.slice(Math.max(0, text.lastIndexOf('"name"', at)), at);
  if (at < 0 || !before.includes('probe_name')) return null;
  if (text.slice(0, at).lastIndexOf(OPEN) > text.slice(0, at).lastIndexOf(CLOSE) && before.includes('"arguments"'))
    return 'marked';
  return before.includes('"parameters"') ? 'json' : null;
}

/**
 * Tells calls from text in an answer that comes in pieces; where the pieces are cut makes no difference to what comes out in all.
 * White space around marked calls belongs to neither. What looks like a call and is none stays text, to the letter.
 */
export class ToolCallReader {
  private pending = '';
  private callCount = 0;
  private isText = false;

  constructor(private readonly dialect: ToolDialect) {}

  get hasCalls(): boolean {
    return this.callCount > 0;
  }

  push(piece: string): ToolStep {
    this.pending += piece;
    return this.dialect === 'marked' ? this.readMarked(false) : this.readJson(false);
  }

  /** What was held back, when the answer is over. */
  end(): ToolStep {
    return this.dialect === 'marked' ? this.readMarked(true) : this.readJson(true);
  }

  private readMarked(isOver: boolean): ToolStep {
    const calls: ToolCall[] = [];
    let content = '';
    for (;;) {
      const open = this.pending.indexOf(OPEN);
      if (open < 0) break;
      const close = this.pending.indexOf(CLOSE, open);
      // An answer may end, at its end mark or limit, before the call is closed.
      if (close < 0 && !isOver) break;
      const until = close < 0 ? this.pending.length : close;
      const call = toolCall(this.pending.slice(open + OPEN.length, until), 'arguments');
      const next = close < 0 ? until : close + CLOSE.length;
      if (call) {
        content += this.around(this.pending.slice(0, open), true);
        calls.push(call);
        this.callCount++;
      } else content += this.pending.slice(0, next);
      this.pending = this.pending.slice(next);
    }
    const certain = isOver ? this.pending.length : certainLength(this.pending);
    content += isOver ? this.around(this.pending, false) : this.pending.slice(0, certain);
    this.pending = this.pending.slice(certain);
    return { content, calls };
  }

  /** Text beside a call. */
  private around(text: string, isBeforeCall: boolean): string {
    if (!isBeforeCall) return this.hasCalls && text.trim() === '' ? '' : text;
    return text.trimEnd();
  }

  private readJson(isOver: boolean): ToolStep {
    const none = { content: '', calls: [] };
    const start = this.pending.trimStart();
    if (!this.isText && start !== '' && !start.startsWith('{')) this.isText = true;
    if (!this.isText && !isOver) return none;
    const text = this.pending;
    this.pending = '';
    const calls = this.isText ? null : callsOf(text);
    if (!calls) return { content: text, calls: [] };
    this.callCount = calls.length;
    return { content: '', calls };
  }
}

/** How much of a text cannot become part of a call or of the white space before one. */
function certainLength(text: string): number {
  const open = text.indexOf(OPEN);
  let end = open < 0 ? text.length : open;
  if (open < 0)
    for (let size = Math.min(OPEN.length - 1, text.length); size > 0; size--)
      if (text.endsWith(OPEN.slice(0, size))) {
        end = text.length - size;
        break;
      }
  return text.slice(0, end).trimEnd().length;
}

/** The calls of an answer that consists of nothing else; null for any other. */
function callsOf(text: string): ToolCall[] | null {
  const calls: ToolCall[] = [];
  let rest = text.trim();
  while (rest !== '') {
    const size = objectLength(rest);
    const call = toolCall(rest.slice(0, size), 'parameters') ?? toolCall(rest.slice(0, size), 'arguments');
    if (!call) return null;
    calls.push(call);
    rest = rest.slice(size);
    if (rest !== '' && !SEPARATOR.test(rest)) return null;
    rest = rest.replace(SEPARATOR, '');
  }
  return calls.length > 0 ? calls : null;
}

/** Length of the JSON object that a text begins with, by its brackets; the whole text where it does not end. */
function objectLength(text: string): number {
  let depth = 0;
  let isString = false;
  for (let i = 0; i < text.length; i++) {
    const character = text[i];
    if (isString) {
      if (character === '\\') i++;
      else if (character === '"') isString = false;
    } else if (character === '"') isString = true;
    else if (character === '{') depth++;
    else if (character === '}' && --depth === 0) return i + 1;
  }
  return text.length;
}

function toolCall(text: string, key: 'arguments' | 'parameters'): ToolCall | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  if (!isObject(value) || typeof value['name'] !== 'string' || value['name'] === '') return null;
  const given = value[key];
  return isObject(given) ? { name: value['name'], arguments: JSON.stringify(given) } : null;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
