/** Added to a masked score; e to this power is exactly 0 in float32, whatever finite number stands in the padding. */
export const MASKED = -1e9;

/** `[rows, capacity]`: 0 for the positions that a row has, MASKED behind them. */
export function paddingMask(lengths: readonly number[], capacity: number): Float32Array {
  const mask = new Float32Array(lengths.length * capacity);
  lengths.forEach((length, row) => mask.fill(MASKED, row * capacity + length, (row + 1) * capacity));
  return mask;
}

/**
 * `[groups · S, S]` for S tokens that belong to sequences of the given lengths, one behind the other: a token sees those of its own
 * sequence up to itself. The same for each query head of a group.
 */
export function causalMask(blocks: readonly number[], groups: number): Float32Array {
  const size = blocks.reduce((sum, count) => sum + count, 0);
  const mask = new Float32Array(groups * size * size);
  if (size === 1) return mask;
  mask.fill(MASKED);
  let start = 0;
  for (const count of blocks) {
    for (let token = start; token < start + count; token++)
      mask.fill(0, token * size + start, token * size + token + 1);
    start += count;
  }
  for (let group = 1; group < groups; group++) mask.copyWithin(group * size * size, 0, size * size);
  return mask;
}
