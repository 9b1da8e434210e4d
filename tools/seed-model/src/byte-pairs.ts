// Learns byte-level BPE merges, as GPT-2 has them: words are cut by its pattern, spelt in bytes, and the pair of tokens that
// stands side by side most often becomes a token of its own, again and again.

/** GPT-2's cut: contractions, words and numbers with the space before them, punctuation, white space. */
const pieces = /'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+/gu;

/** Two tokens that become one. Tokens are written in the byte alphabet. */
export type Merge = readonly [left: string, right: string];

export interface BytePairs {
  /** Every token in id order: the special ones, the 256 bytes, then one for each merge. */
  readonly tokens: readonly string[];
  /** In the order they were learned, which is the order they apply in. */
  readonly merges: readonly Merge[];
  /** How each word of the training text was cut up in the end: what an encoder must give for it. */
  readonly words: ReadonlyMap<string, readonly number[]>;
}

/**
 * Learns merges until the vocabulary has `size` tokens, or no pair occurs twice. The most frequent pair is merged first;
 * of equally frequent ones the pair with the smaller ids.
 */
export function learnBytePairs(texts: Iterable<string>, size: number, specialTokens: readonly string[]): BytePairs {
  const tokens = [...specialTokens, ...byteAlphabet];
  const idOf = new Map(tokens.map((token, id) => [token, id]));
  const merges: Merge[] = [];
  const words = countWords(texts).map(([word, count]) => ({ word, count, ids: spell(word, specialTokens.length) }));
  while (tokens.length < size) {
    const pair = mostFrequentPair(words);
    if (pair === null) break;
    const merge: Merge = [tokenAt(tokens, pair[0]), tokenAt(tokens, pair[1])];
    const merged = merge.join('');
    // Two pairs can spell the same token ("a"+"bc", "ab"+"c"): it keeps its one id.
    const id = idOf.get(merged) ?? tokens.push(merged) - 1;
    idOf.set(merged, id);
    merges.push(merge);
    for (const { ids } of words) replacePair(ids, pair, id);
  }
  return { tokens, merges, words: new Map(words.map(({ word, ids }) => [word, ids])) };
}

/** The words, numbers and marks that GPT-2's pattern cuts a text into. Joined again they are the text. */
export function cutIntoWords(text: string): string[] {
  return text.match(pieces) ?? [];
}

function countWords(texts: Iterable<string>): [string, number][] {
  const counts = new Map<string, number>();
  for (const text of texts) for (const word of cutIntoWords(text)) counts.set(word, (counts.get(word) ?? 0) + 1);
  return [...counts];
}

function spell(word: string, firstByteId: number): number[] {
  return [...new TextEncoder().encode(word)].map((byte) => firstByteId + byte);
}

// A pair of ids as one number that sorts like the pair.
const pairBase = 2 ** 20;

function mostFrequentPair(words: readonly { count: number; ids: readonly number[] }[]): [number, number] | null {
  const counts = new Map<number, number>();
  for (const { ids, count } of words) {
    for (let i = 1; i < ids.length; i += 1) {
      const key = (ids[i - 1] ?? 0) * pairBase + (ids[i] ?? 0);
      counts.set(key, (counts.get(key) ?? 0) + count);
    }
  }
  let best = -1;
  let bestCount = 1; // a pair seen once is no pattern
  for (const [key, count] of counts) {
    if (count > bestCount || (count === bestCount && best !== -1 && key < best)) [best, bestCount] = [key, count];
  }
  return best === -1 ? null : [Math.floor(best / pairBase), best % pairBase];
}

function replacePair(ids: number[], [left, right]: readonly [number, number], id: number): void {
  for (let i = 0; i + 1 < ids.length; i += 1) if (ids[i] === left && ids[i + 1] === right) ids.splice(i, 2, id);
}

function tokenAt(tokens: readonly string[], id: number): string {
  const token = tokens[id];
  if (token === undefined) throw new RangeError(`no token has the id ${id}`);
  return token;
}

/** One printable character for each byte: itself where it is printable, the others from U+0100 on in order. */
const byteAlphabet: readonly string[] = (() => {
  let next = 0x100;
  return Array.from({ length: 256 }, (_, byte) => {
    const isPrintable = (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
    return String.fromCodePoint(isPrintable ? byte : next++);
  });
})();
