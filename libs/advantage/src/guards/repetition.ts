/** Words in a row that are looked for again. */
const N = 4;
/** Fewest n-grams that a share says something about: a short list of alike items is no loop. */
const MIN_NGRAMS = 50;
/** Largest share of n-grams that may have occurred before. Prose has below 0.1, tables and code up to about 0.4, a loop above 0.8. */
export const MAX_REPEATED_SHARE = 0.5;
/** Longest run of the same line, in lines. */
export const MAX_LINE_RUN = 5;
/** A line that is shorter may repeat: closing brackets, rules. */
const MIN_LINE_CHARS = 8;

/** Whether an answer goes round in circles: too large a share of n-grams that were there before, or the same line again and again. */
export const isRepetitive = (answer: string): boolean =>
  (repeatedShare(answer) ?? 0) > MAX_REPEATED_SHARE || longestLineRun(answer) > MAX_LINE_RUN;

/**
 * Share of the n-grams of words (n = 4) that occurred before in the same answer, in [0, 1]: 1 − distinct/all, as the repetition measure
 * of Welleck et al. 2019 (arXiv:1908.04319, seq-rep-n).
 *
 * A word ends at white space, in scripts that do not put any after each character, and otherwise after sixteen characters, so that a
 * loop without spaces has words too.
 *
 * @returns `null` when the answer is too short to say
 */
export function repeatedShare(answer: string): number | null {
  const words = answer.toLowerCase().match(WORD) ?? [];
  const all = words.length - N + 1;
  if (all < MIN_NGRAMS) return null;
  const distinct = new Set<string>();
  for (let i = 0; i < all; i++) distinct.add(`${words[i]} ${words[i + 1]} ${words[i + 2]} ${words[i + 3]}`);
  return 1 - distinct.size / all;
}

const UNSPACED = String.raw`\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}`;
const WORD = new RegExp(`[${UNSPACED}]|[^\\s${UNSPACED}]{1,16}`, 'gu');

/** Longest run of lines that are the same but for white space around them; blank lines neither count nor end a run. */
export function longestLineRun(answer: string): number {
  let longest = 0;
  let run = 0;
  let before = '';
  for (const raw of answer.split('\n')) {
    const line = raw.trim();
    if (line === '') continue;
    run = line === before ? run + 1 : 1;
    before = line;
    if (line.length >= MIN_LINE_CHARS) longest = Math.max(longest, run);
  }
  return longest;
}
