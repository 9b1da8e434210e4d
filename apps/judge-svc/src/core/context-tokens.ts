/**
 * Tokens of a text for a judge whose tokenizer is unknown: an estimate from above.
 *
 * Only bytes are a proof (no byte-level tokenizer makes more tokens than UTF-8 bytes), and a limit by bytes would waste three quarters
 * of the judge's window. The weights below give at least what the tokenizers of Llama 2, Llama 3 and OpenAI (cl100k, o200k) gave for
 * prose, code, JSON, base64, random letters and digits and 11 scripts; ordinary English comes out half again too high
 * (docs/judge-prompts.md). Where a text beats the estimate and the window, the judge refuses and the vote abstains: nothing else happens.
 */
export const estimateTokens = (text: string): number => Math.ceil(weigh(text));

/** The estimate before it is rounded: the sum over the text's pieces. */
export function weigh(text: string): number {
  let tokens = 0;
  for (let at = 0; at < text.length;) {
    const end = pieceEnd(text, at);
    tokens += weight(text, at, end);
    at = end;
  }
  return tokens;
}

const LONGEST_PIECE = 16;
const ASCII = 0x80;
/** What the characters of a piece have in common. */
const SINGLE = 0;
const SPACES = 1;
const LOWER = 2;
const UPPER = 3;
const kinds = Uint8Array.from({ length: ASCII }, (_, code) => {
  const char = String.fromCharCode(code);
  return char === ' ' ? SPACES : /[a-z]/.test(char) ? LOWER : /[A-Z]/.test(char) ? UPPER : SINGLE;
});

/** Tokens of an ASCII piece by its kind and length. */
const weights = [SINGLE, SPACES, LOWER, UPPER].map((kind) =>
  Float64Array.from({ length: LONGEST_PIECE + 1 }, (_, length) => {
    if (kind === SPACES) return length === 1 ? 0.25 : 1 + length / 16;
    if (kind === LOWER) return length <= 5 ? 1.1 : length <= 9 ? 2 : 0.82 * length;
    return kind === UPPER ? 0.9 * length : 1;
  }),
);

/** Runs of letters in one case are words or parts of words; all else counts by the character. No piece is long. */
function pieceEnd(text: string, at: number): number {
  const code = text.charCodeAt(at);
  const kind = code < ASCII ? kinds[code]! : SINGLE;
  if (kind === SINGLE) return at + (code >= 0xd800 && text.codePointAt(at)! > 0xffff ? 2 : 1);
  const most = Math.min(text.length, at + LONGEST_PIECE);
  let end = at + 1;
  while (end < most && kinds[text.charCodeAt(end)] === kind) end++;
  return end;
}

/** Of the piece from `at` to `end`. */
function weight(text: string, at: number, end: number): number {
  const code = text.charCodeAt(at);
  return code < ASCII ? weights[kinds[code]!]![end - at]! : foreignWeight(text.codePointAt(at)!);
}

function foreignWeight(point: number): number {
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
 * @param whole `weigh(text)`, where it is known
 */
export function cutMiddle(text: string, budget: number, whole = weigh(text)): Shown {
  if (Math.ceil(whole) <= budget) return [text];
  const half = Math.max(0, budget - CUT_MARK_TOKENS) / 2;
  let head = 0;
  let at = 0;
  // The sum is built as `weigh` builds it: what is left of it after the last piece is exactly nothing.
  for (let before = 0; at < text.length && whole - before > half;) {
    const end = pieceEnd(text, at);
    before += weight(text, at, end);
    if (before <= half) head = end;
    at = end;
  }
  return [text.slice(0, head), text.slice(at)];
}

/** The two ends with a mark between them that says how many characters (code points) of `full` are missing. */
export const joinCut = (shown: Shown, missing: number): string =>
  shown.length === 1 ? shown[0] : `${shown[0]}\n[… ${missing} characters cut …]\n${shown[1]}`;
