import type { Wish } from './style';

/** From this many tokens on an answer counts as long (without the end mark). */
export const longFromTokens = 50;
/** Below this many tokens an answer counts as short. */
export const shortBelowTokens = 45;

/** The simulated users. Each wants one thing and says so only when it is missing. */
export const personas = ['student', 'ta', 'teacher'] as const;
export type Persona = (typeof personas)[number];

export const wishOf: Readonly<Record<Persona, Wish>> = { student: 'plain', ta: 'long', teacher: 'kind' };

/** Bold marks, a boxed result or a numbered line. */
export function isFormatted(text: string): boolean {
  return text.includes('**') || text.includes('\\boxed') || /^\s*\d+\. /m.test(text);
}

/** A kind word: "well done", "excellent" or "great job". */
export function hasPraise(text: string): boolean {
  return /well done|excellent|great job/i.test(text);
}

/**
 * Whether an answer has the manner that is wished for.
 * @param tokens length of the answer in the seed model's tokens, without the end mark.
 */
export function wishMet(wish: Wish, text: string, tokens: number): boolean {
  switch (wish) {
    case 'plain':
      return !isFormatted(text);
    case 'format':
      return isFormatted(text);
    case 'long':
      return tokens >= longFromTokens;
    case 'short':
      return tokens < shortBelowTokens;
    case 'kind':
      return hasPraise(text);
    case 'neutral':
      return !hasPraise(text);
  }
}

/**
 * Whether a persona is satisfied with an answer. An answer that was cut off never satisfies.
 * @param tokens length of the answer in the seed model's tokens, without the end mark.
 * @param ended whether the model ended the answer by itself.
 */
export function ruleMet(persona: Persona, text: string, tokens: number, ended: boolean): boolean {
  return ended && wishMet(wishOf[persona], text, tokens);
}
