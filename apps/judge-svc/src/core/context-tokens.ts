/**
 * Tokens of a text for a judge whose tokenizer is unknown: an estimate from above.
 *
 * Only bytes are a proof (no byte-level tokenizer makes more tokens than UTF-8 bytes), and a limit by bytes would waste three quarters
 * of the judge's window. The weights below give at least what the tokenizers of Llama 2, Llama 3 and OpenAI (cl100k, o200k) gave for
 * prose, code, JSON, base64, random letters and digits and 11 scripts; ordinary English comes out half again too high
 * (docs/judge-prompts.md). Where a text beats the estimate and the window, the judge refuses and the vote abstains: nothing else happens.
 */
export function estimateTokens(text: string): number {
  let tokens = 0;
  for (const [piece] of text.matchAll(PIECE)) tokens += weight(piece);
  return Math.ceil(tokens);
}

/** Runs of letters in one case are words or parts of words; all else counts by the character. No piece is long. */
const PIECE = /[a-z]{1,16}|[A-Z]{1,16}| {1,16}|[^]/gu;

function weight(piece: string): number {
  const { length } = piece;
  const point = piece.codePointAt(0)!;
  if (point === 0x20) return length === 1 ? 0.25 : 1 + length / 16;
  if (point >= 0x61 && point <= 0x7a) return length <= 5 ? 1.1 : length <= 9 ? 2 : 0.82 * length;
  if (point >= 0x41 && point <= 0x5a) return 0.9 * length;
  if (point < 0x80) return 1;
  if (point < 0x400) return 1.3; // Latin with accents, Greek
  if (point < 0x530) return 1; // Cyrillic
  if (point < 0x800) return 1.25; // Hebrew, Arabic
  if ((point >= 0x3000 && point < 0xa000) || (point >= 0xac00 && point < 0xd7b0)) return 2.25; // Han, kana, Hangul
  return point < 0x10000 ? 3 : 4; // as bytes
}

/** A text that is shown whole, or its two ends. */
export type Shown = readonly [whole: string] | readonly [head: string, tail: string];

/** Tokens of the mark that `joinCut` puts where the middle was. */
const CUT_MARK_TOKENS = 30;

/**
 * `text` within `budget` tokens: whole, or its two ends of equal share, cut between words.
 * @param budget tokens by `estimateTokens`, the cut's mark included
 */
export function cutMiddle(text: string, budget: number): Shown {
  const pieces = [...text.matchAll(PIECE)].map(([piece]) => piece);
  const weights = pieces.map(weight);
  if (Math.ceil(weights.reduce((sum, tokens) => sum + tokens, 0)) <= budget) return [text];
  const half = Math.max(0, budget - CUT_MARK_TOKENS) / 2;
  let head = 0;
  for (let left = half; head < pieces.length && (left -= weights[head]!) >= 0;) head++;
  let tail = pieces.length;
  for (let left = half; tail > head && (left -= weights[tail - 1]!) >= 0;) tail--;
  return [pieces.slice(0, head).join(''), pieces.slice(tail).join('')];
}

/** The two ends with a mark between them that says how many characters (code points) of `full` are missing. */
export const joinCut = (shown: Shown, missing: number): string =>
  shown.length === 1 ? shown[0] : `${shown[0]}\n[… ${missing} characters cut …]\n${shown[1]}`;
