/**
 * Keeps of `weights` the `topK` largest (0: all), and of those the fewest largest that together have the share `topP`; sets the others
 * to 0. Of equal weights the smaller id is the larger. Works on a heap: only what is kept is put in order.
 *
 * @param error how far a sum of weights may be off, as a share of their total
 * @returns the sum of what is kept; null where `error` leaves open which those are, and `weights` then means nothing
 */
export function keepNucleus(weights: Float64Array, topK: number, topP: number, error: number): number | null {
  const heap = new LargestFirst(weights);
  const most = topK > 0 ? Math.min(topK, weights.length) : weights.length;
  const kept: number[] = [];
  let sum = 0;
  let total = 0;
  if (topK > 0 && topP < 1) {
    const candidates = Array.from({ length: most }, () => heap.pop());
    for (const id of candidates) total += weights[id]!;
    if (!nucleus(candidates)) return null;
  } else {
    for (let id = 0; id < weights.length; id++) total += weights[id]!;
    if (!nucleus(heap.first(most))) return null;
  }
  const values = kept.map((id) => weights[id]!);
  weights.fill(0);
  kept.forEach((id, i) => (weights[id] = values[i]!));
  return sum;

  /** Takes ids until they have the share; false where that is too close to call. */
  function nucleus(ids: Iterable<number>): boolean {
    const wanted = topP * total;
    for (const id of ids) {
      if (kept.length > 0 && topP < 1) {
        if (Math.abs(sum - wanted) <= error * total) return false;
        if (sum >= wanted) return true;
      }
      kept.push(id);
      sum += weights[id]!;
    }
    return true;
  }
}

/** A binary heap of ids, the largest weight on top. */
class LargestFirst {
  private readonly ids: Int32Array;
  private size: number;

  constructor(private readonly weights: Float64Array) {
    this.size = weights.length;
    this.ids = new Int32Array(this.size);
    for (let id = 0; id < this.size; id++) this.ids[id] = id;
    for (let i = (this.size >> 1) - 1; i >= 0; i--) this.sink(i);
  }

  *first(count: number): Iterable<number> {
    for (let i = 0; i < count; i++) yield this.pop();
  }

  pop(): number {
    const top = this.ids[0]!;
    this.ids[0] = this.ids[--this.size]!;
    this.sink(0);
    return top;
  }

  private sink(from: number): void {
    const { ids, size } = this;
    const id = ids[from]!;
    let at = from;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= size) break;
      if (child + 1 < size && this.isLarger(ids[child + 1]!, ids[child]!)) child++;
      if (!this.isLarger(ids[child]!, id)) break;
      ids[at] = ids[child]!;
      at = child;
    }
    ids[at] = id;
  }

  private isLarger(a: number, b: number): boolean {
    const difference = this.weights[a]! - this.weights[b]!;
    return difference > 0 || (difference === 0 && a < b);
  }
}
