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
  for (let at = 0; at < text.length;) {
    const end = pieceEnd(text, at);
    tokens += weight(text.codePointAt(at)!, end - at);
    at = end;
  }
  return Math.ceil(tokens);
}

const LONGEST_PIECE = 16;
const isLower = (code: number): boolean => code >= 0x61 && code <= 0x7a;
const isUpper = (code: number): boolean => code >= 0x41 && code <= 0x5a;
const isSpace = (code: number): boolean => code === 0x20;

/** Runs of letters in one case are words or parts of words; all else counts by the character. No piece is long. */
function pieceEnd(text: string, at: number): number {
  const code = text.charCodeAt(at);
  const alike = isLower(code) ? isLower : isUpper(code) ? isUpper : isSpace(code) ? isSpace : null;
  if (alike === null) return at + (text.codePointAt(at)! > 0xffff ? 2 : 1);
  const most = Math.min(text.length, at + LONGEST_PIECE);
  let end = at + 1;
  while (end < most && alike(text.charCodeAt(end))) end++;
  return end;
}

/** Of a piece of `length` UTF-16 units that begins with the code point `point`. */
function weight(point: number, length: number): number {
  if (isSpace(point)) return length === 1 ? 0.25 : 1 + length / 16;
  if (isLower(point)) return length <= 5 ? 1.1 : length <= 9 ? 2 : 0.82 * length;
  if (isUpper(point)) return 0.9 * length;
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
  if (estimateTokens(text) <= budget) return [text];
  const ends: number[] = [];
  const weights: number[] = [];
  for (let at = 0; at < text.length; at = ends.at(-1)!) {
    ends.push(pieceEnd(text, at));
    weights.push(weight(text.codePointAt(at)!, ends.at(-1)! - at));
  }
  const half = Math.max(0, budget - CUT_MARK_TOKENS) / 2;
  let head = 0;
  for (let left = half; head < ends.length && (left -= weights[head]!) >= 0;) head++;
  let tail = ends.length;
  for (let left = half; tail > head && (left -= weights[tail - 1]!) >= 0;) tail--;
  return [text.slice(0, ends[head - 1] ?? 0), text.slice(ends[tail - 1] ?? 0)];
}

/** The two ends with a mark between them that says how many characters (code points) of `full` are missing. */
export const joinCut = (shown: Shown, missing: number): string =>
  shown.length === 1 ? shown[0] : `${shown[0]}\n[… ${missing} characters cut …]\n${shown[1]}`;
