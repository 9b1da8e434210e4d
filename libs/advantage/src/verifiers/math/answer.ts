import { canonical, plainText } from './canonical';
import { quantity, type Quantity } from './number';

/** What a mathematical answer says. */
export interface Answer {
  /** Without spaces and case. */
  readonly text: string;
  /** The number that it is. */
  readonly quantity: Quantity | null;
  /** The list that it is. */
  readonly list: List | null;
}

export interface List {
  /** `(`, `[`, `\{` or `''`, and what closes it. */
  readonly brackets: readonly [string, string];
  readonly items: readonly Answer[];
}

/** Lists within lists that are followed. */
const MAX_DEPTH = 10;
/** `x = 5`, `f(x) = 5` is not one, `x \in [0, 1]` */
const ASSIGNMENT = /^[a-zA-Z](?:_\{?\w\}?)? ?(?:=|\\in(?![a-zA-Z])) ?/;
const CONJUNCTION = /,? ?\\text ?\{ ?(?:and|or) ?\} ?|,? (?:and|or) /g;

/** Reads an answer as it stands in a box or in the given truth. */
export const answerOf = (written: string): Answer => read(canonical(written), 0);

function read(written: string, depth: number): Answer {
  const wholly = /^\\text ?\{([^{}]*)\}$/.exec(written);
  const text = (wholly?.[1] ?? written).trim().replace(ASSIGNMENT, '');
  const number = quantity(text);
  const list = number === null && depth < MAX_DEPTH ? listOf(text, depth) : null;
  // (5) and (A) are no lists: parentheses around one thing are only parentheses.
  const only = list?.items.length === 1 && list.brackets[0] === '(' ? list.items[0]! : null;
  return only ?? { text: plainText(text), quantity: number, list };
}

function listOf(text: string, depth: number): List | null {
  const brackets = bracketsOf(text);
  const inner =
    brackets === null ? text.replace(CONJUNCTION, ', ') : text.slice(brackets[0].length, -brackets[1].length);
  const parts = partsOf(inner);
  if (brackets === null && parts.length < 2) return null;
  return { brackets: brackets ?? ['', ''], items: parts.map((part) => read(part, depth + 1)) };
}

const OPENING = /^(?:\\\{|[([])/;
const CLOSING = /(?:\\\}|[)\]])$/;

/** The brackets around a text, when the first is closed by the last and not before: (0, 1] yes, (0, 1) ∪ (2, 3) no. */
function bracketsOf(text: string): [string, string] | null {
  const opening = OPENING.exec(text)?.[0];
  const closing = CLOSING.exec(text)?.[0];
  if (opening === undefined || closing === undefined || (opening === '\\{') !== (closing === '\\}')) return null;
  const end = text.length - closing.length;
  for (const { at, depth } of bracketSteps(text)) if (depth === 0) return at === end ? [opening, closing] : null;
  return null;
}

/** Parts between the commas and semicolons that stand in no bracket. */
function partsOf(text: string): string[] {
  const cuts = [...bracketSteps(text)]
    .filter(({ depth, isSeparator }) => isSeparator && depth === 0)
    .map(({ at }) => at);
  return [...cuts, text.length]
    .map((cut, i) => text.slice(i === 0 ? 0 : cuts[i - 1]! + 1, cut).trim())
    .filter((part) => part !== '');
}

/** Each bracket and separator of a text with how many brackets are open after it. */
function* bracketSteps(text: string): Generator<{ at: number; depth: number; isSeparator: boolean }> {
  let depth = 0;
  for (const { 0: sign, index: at } of text.matchAll(/\\[{}]|[()[\]{},;]/g)) {
    const isSeparator = sign === ',' || sign === ';';
    if (!isSeparator) depth += /[([{]$/.test(sign) ? 1 : -1;
    yield { at, depth, isSeparator };
  }
}
