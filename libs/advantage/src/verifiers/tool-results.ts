import type { VerifiableTurn } from './verdict';

/** A tool's result, without terminal colours. */
export interface ToolResult {
  /** The result as JSON; `undefined` when it is no object or list. */
  readonly json: object | undefined;
  /** What there is to read: the result, or the strings in it when it is JSON. */
  readonly texts: readonly string[];
}

const ESCAPE = '\u001b';
// Colours and cursor moves (CSI), and titles and links (OSC). Neither can run over the next escape, so the work stays linear.
const TERMINAL_CODES = new RegExp(
  `${ESCAPE}(?:\\[[0-?]*[ -/]*[@-~]|\\][^${ESCAPE}\u0007]*(?:\u0007|${ESCAPE}\\\\))`,
  'g',
);

/**
 * Results of the tools that the answer called. Only messages of a tool's role count: a user who writes `exit code: 0`, or the answer
 * itself, says nothing about what a tool did.
 */
export function toolResults({ nextState }: VerifiableTurn): ToolResult[] {
  return nextState
    .filter(({ role }) => role === 'tool' || role === 'function')
    .map(({ text }) => {
      const plain = withoutTerminalCodes(text);
      const json = parsed(plain);
      return { json, texts: json === undefined ? [plain] : stringsOf(json) };
    });
}

export const withoutTerminalCodes = (text: string): string =>
  text.includes(ESCAPE) ? text.replace(TERMINAL_CODES, '') : text;

function parsed(text: string): object | undefined {
  if (!/^\s*[[{]/.test(text)) return undefined;
  try {
    return JSON.parse(text) as object;
  } catch {
    return undefined;
  }
}

/** A member of an object somewhere in a JSON value. */
export interface Member {
  readonly key: string;
  readonly value: unknown;
  /** The object that the member is of. */
  readonly owner: Readonly<Record<string, unknown>>;
  /** Objects around the owner; lists do not count. */
  readonly depth: number;
}

/** Every member of every object of a JSON value, without recursion: a value can be nested deeper than the stack. */
export function* membersOf(json: object): Generator<Member> {
  const waiting: { value: object; depth: number }[] = [{ value: json, depth: 0 }];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const isList = Array.isArray(next.value);
    for (const [key, value] of Object.entries(next.value)) {
      if (!isList) yield { key, value, owner: next.value as Record<string, unknown>, depth: next.depth };
      if (typeof value === 'object' && value !== null) {
        waiting.push({ value: value as object, depth: isList ? next.depth : next.depth + 1 });
      }
    }
  }
}

function stringsOf(json: object): string[] {
  const strings: string[] = [];
  const waiting: unknown[] = [json];
  while (waiting.length > 0) {
    const value = waiting.pop();
    if (typeof value === 'string') strings.push(value);
    // Pushed one by one: a long list would not fit into the arguments of one call.
    else if (typeof value === 'object' && value !== null) for (const part of Object.values(value)) waiting.push(part);
  }
  return strings;
}

/** A whole number, or a string that writes one; `null` for anything else. */
export function wholeNumber(value: unknown): number | null {
  if (typeof value === 'number') return Number.isInteger(value) ? value : null;
  return typeof value === 'string' && /^-?\d{1,10}$/.test(value) ? Number(value) : null;
}
