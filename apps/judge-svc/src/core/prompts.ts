import type { BodyOf } from '@hindcast/contracts';
import { quoteTurn, type QuotedMessage, type QuotedTurn } from './context';
import { estimateTokens } from './context-tokens';
import type { PromptText } from './prompts/prompt-text';
import { current } from './prompts/published';
import { fence } from './quote';

/** Of a judgement as a whole; each vote carries the version of its own prompt. */
export const PROMPT_VERSION = `${current.eval.version}+${current.hint.version}`;

/** Largest prompt, tokens by `estimateTokens`; with the longest reply of 4,096 it fits a window of 8,192. */
export const DEFAULT_CONTEXT_TOKENS = 4096;

export interface JudgePrompt {
  readonly system: string;
  /** The quotation, and the judge's task after it. */
  readonly user: string;
  /** The texts of the turn in their fences; the same string for both kinds. */
  readonly quotation: string;
  /** Version of the wording, stored with the vote. */
  readonly version: string;
}

type PairedTurn = BodyOf<'turnPaired'>;

/**
 * Prompt of an eval vote: did the answer work?
 * @param mark random, at least 64 bits, hex
 * @param contextTokens largest prompt, tokens
 */
export const evalPrompt = (turn: PairedTurn, mark: string, contextTokens = DEFAULT_CONTEXT_TOKENS): JudgePrompt =>
  prompt(current.eval, turn, mark, contextTokens);

/** Prompt of a hint vote: what should the answer have known? Parameters as of `evalPrompt`. */
export const hintPrompt = (turn: PairedTurn, mark: string, contextTokens = DEFAULT_CONTEXT_TOKENS): JudgePrompt =>
  prompt(current.hint, turn, mark, contextTokens);

function prompt(text: PromptText, turn: PairedTurn, mark: string, contextTokens: number): JudgePrompt {
  const quotation = quotationOf(turn, mark, contextTokens);
  return { system: text.system, user: `${quotation}\n\n${text.closing}`, quotation, version: text.version };
}

const opening = (mark: string): string => `The mark of this quotation is ${mark}.`;

/** Tokens of the three fences, of the opening line and of what the joining of two cut ends may add. */
const FRAME_TOKENS = 380;
const instructionTokens = Math.max(
  ...[current.eval, current.hint].map(({ system, closing }) => estimateTokens(system) + estimateTokens(closing)),
);

interface Quotation {
  readonly mark: string;
  readonly contextTokens: number;
  readonly text: string;
}
// Both kinds of votes on a turn show the same.
const quotations = new WeakMap<PairedTurn, Quotation>();

function quotationOf(turn: PairedTurn, mark: string, contextTokens: number): string {
  const known = quotations.get(turn);
  if (known?.mark === mark && known.contextTokens === contextTokens) return known.text;
  const quoted = quoteTurn(turn, contextTokens - instructionTokens - FRAME_TOKENS);
  const text = `${opening(mark)}\n\n${material(quoted, mark)}`;
  quotations.set(turn, { mark, contextTokens, text });
  return text;
}

function material({ conversation, answer, nextState }: QuotedTurn, mark: string): string {
  return [
    fence('CONVERSATION', messages(conversation, mark), mark),
    fence('ANSWER', answer, mark),
    fence('NEXT STATE', messages(nextState, mark), mark),
  ].join('\n\n');
}

const messages = (quoted: readonly QuotedMessage[], mark: string): string =>
  quoted
    .map(({ head, text, leftOutBefore }) => {
      const leftOut = leftOutBefore === 0 ? '' : `[… ${leftOutBefore} messages left out …]\n\n`;
      return `${leftOut}[${head} ${mark}]\n${text}`;
    })
    .join('\n\n');
