/** Bits of a set: with a thousand entries about one look in fifteen hundred is mistaken, with three thousand one in seventy. */
const BITS = 32_768;
/** Bits of an entry, each from four hex digits of its hash. */
const BITS_EACH = 3;
const DIGITS = 4;

/** Bytes of a set of marks. */
export const MARKS_BYTES = BITS / 8;

/**
 * A set of hashes of which nothing is ever taken out, in a fixed number of bytes (a Bloom filter). What was put in is always found;
 * what was not is found now and then, the more often the more the set holds.
 */
export type Marks = Uint8Array;

export const noMarks = (): Marks => new Uint8Array(MARKS_BYTES);

/** What was written in another form may hold anything. */
export const marksFrom = (bytes: Uint8Array): Marks => (bytes.length === MARKS_BYTES ? bytes : noMarks().fill(0xff));

/** @param hash SHA-256, hex */
export const isMarked = (marks: Marks, hash: string): boolean =>
  bitsOf(hash).every((bit) => (marks[bit >> 3]! & (1 << (bit & 7))) !== 0);

/** The marks with those of the hashes; the same array where they were all there. */
export function withMarks(marks: Marks, hashes: readonly string[]): Marks {
  if (hashes.every((hash) => isMarked(marks, hash))) return marks;
  // A Buffer's `slice` would be the same bytes.
  const more = Uint8Array.from(marks);
  for (const bit of hashes.flatMap(bitsOf)) more[bit >> 3]! |= 1 << (bit & 7);
  return more;
}

const bitsOf = (hash: string): number[] =>
  Array.from(
    { length: BITS_EACH },
    (_, index) => parseInt(hash.slice(index * DIGITS, (index + 1) * DIGITS), 16) % BITS,
  );
