/** The samples of one forward and backward pass, by index into the batch, and the shape they are padded to. */
export interface MicroBatch {
  readonly samples: readonly number[];
  /** Rows B; those after the samples are padding of weight 0. */
  readonly rows: number;
  /** Positions T. */
  readonly length: number;
}

const SMALLEST_BUCKET = 64;

/**
 * Padded length of a sample: 64, 128, 192, 256, 384, 512, 768, 1024, … (powers of two and the halves between them).
 * Few lengths mean few graphs to compile, at a third of padding in the worst case beyond 64.
 */
export function bucketOf(length: number): number {
  let bucket = SMALLEST_BUCKET;
  while (bucket < length) {
    const isPowerOfTwo = (bucket & (bucket - 1)) === 0;
    bucket = bucket === SMALLEST_BUCKET ? 128 : isPowerOfTwo ? bucket * 1.5 : (bucket / 3) * 4;
  }
  return bucket;
}

/**
 * Cuts a batch into passes of at most `tokenBudget` tokens, padding included. Samples of like length share a pass; rows are
 * padded to a power of two where the budget allows it.
 *
 * @param lengths positions of each sample, each within the budget once padded
 * @throws RangeError when one is not
 */
export function microBatches(lengths: readonly number[], tokenBudget: number): MicroBatch[] {
  const longestFirst = lengths.map((_, i) => i).sort((a, b) => lengths[b]! - lengths[a]! || a - b);
  const batches: MicroBatch[] = [];
  for (let first = 0; first < longestFirst.length;) {
    const longest = longestFirst[first]!;
    const length = bucketOf(lengths[longest]!);
    const room = Math.floor(tokenBudget / length);
    if (room === 0) throw new RangeError(`sample of ${lengths[longest]} tokens is beyond the budget of ${tokenBudget}`);
    const samples = longestFirst.slice(first, first + room);
    batches.push({ samples, rows: Math.min(room, powerOfTwoFrom(samples.length)), length });
    first += samples.length;
  }
  return batches;
}

function powerOfTwoFrom(count: number): number {
  return 2 ** Math.ceil(Math.log2(count));
}
