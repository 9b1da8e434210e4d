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
  const words = numbered(answer.toLowerCase().match(WORD) ?? []);
  const grams = pairs(pairs(words, 1), 2);
  return grams.length < MIN_NGRAMS ? null : 1 - new Set(grams).size / grams.length;
}

/** The same number for the same thing, in the order of the first occurrences. */
function numbered<T>(things: readonly T[]): number[] {
  const numbers = new Map<T, number>();
  return things.map((thing) => {
    const number = numbers.get(thing) ?? numbers.size;
    if (number === numbers.size) numbers.set(thing, number);
    return number;
  });
}

/** Numbers for the pairs of each element and the one `distance` after it. Two pairs of words, two apart, are a 4-gram. */
const pairs = (numbers: readonly number[], distance: number): number[] =>
  numbered(numbers.slice(0, -distance).map((number, i) => number * numbers.length + numbers[i + distance]!));

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
