/** The samples of one forward and backward pass, by index into the batch, and the shape they are padded to. */
export interface MicroBatch {
  readonly samples: readonly number[];
  /** Rows B; those after the samples are padding of weight 0. */
  readonly rows: number;
  /** Positions T. */
  readonly length: number;
}

const SMALLEST_BUCKET = 64;
/** What one more pass costs beside its tokens, in tokens: reading all weights again and adding up their gradients. */
const PASS_COST = 128;

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

/** Padded number of rows: 1, 2, 3, 4, 6, 8, 12, 16, … for the same reason. */
export function rowBucketOf(rows: number): number {
  const power = 2 ** Math.floor(Math.log2(rows));
  if (rows === power) return power;
  return rows <= 1.5 * power ? 1.5 * power : 2 * power;
}

/**
 * Cuts a batch into passes of at most `tokenBudget` tokens, padding included, so that
 *
 *   Σ over passes (B · T + c)      is least,      c = 128
 *
 * over all cuts of the samples in order of their length: samples of like length share a pass. Rows are padded to a bucket where the
 * budget allows it.
 *
 * @param lengths positions of each sample, each within the budget once padded
 * @throws RangeError when one is not
 */
export function microBatches(lengths: readonly number[], tokenBudget: number): MicroBatch[] {
  const longestFirst = lengths.map((_, i) => i).sort((a, b) => lengths[b]! - lengths[a]! || a - b);
  const buckets = longestFirst.map((i) => bucketOf(lengths[i]!));
  if (buckets[0]! > tokenBudget) {
    throw new RangeError(`sample of ${lengths[longestFirst[0]!]} tokens is beyond the budget of ${tokenBudget}`);
  }
  // best[i]: the least cost of all samples from the i-th on, and where the first of their passes ends.
  const best = Array.from({ length: lengths.length + 1 }, () => ({ cost: 0, end: lengths.length }));
  for (let first = lengths.length - 1; first >= 0; first--) {
    const length = buckets[first]!;
    const room = Math.floor(tokenBudget / length);
    best[first]!.cost = Infinity;
    for (let end = first + 1; end <= Math.min(first + room, lengths.length); end++) {
      const rows = Math.min(room, rowBucketOf(end - first));
      const cost = rows * length + PASS_COST + best[end]!.cost;
      // At the same cost the larger pass: one graph less.
      if (cost <= best[first]!.cost) best[first] = { cost, end };
    }
  }
  const batches: MicroBatch[] = [];
  for (let first = 0; first < lengths.length; first = best[first]!.end) {
    const samples = longestFirst.slice(first, best[first]!.end);
    const length = buckets[first]!;
    batches.push({ samples, rows: Math.min(Math.floor(tokenBudget / length), rowBucketOf(samples.length)), length });
  }
  return batches;
}
