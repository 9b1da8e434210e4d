import { ProtobufWriter } from '@hindcast/tfjs-onnx/protobuf';

const BUCKETS = 30;

/** How values spread: count and sums exactly, the rest by buckets of equal width from the least value to the largest. */
export interface ValueHistogram {
  readonly min: number;
  readonly max: number;
  readonly count: number;
  readonly sum: number;
  readonly sumOfSquares: number;
  /** Right end of each bucket; the last one is `max`. */
  readonly limits: readonly number[];
  /** Values in each bucket. */
  readonly counts: readonly number[];
}

/** The histogram of all values of all arrays, each finite; `null` when there are none. Equal values share one bucket. */
export function histogramOf(arrays: readonly ArrayLike<number>[]): ValueHistogram | null {
  const values = arrays.flatMap((array) => Array.from(array));
  if (values.length === 0) return null;
  const min = values.reduce((least, value) => Math.min(least, value), Infinity);
  const max = values.reduce((most, value) => Math.max(most, value), -Infinity);
  const range = max - min;
  const buckets = range === 0 ? 1 : BUCKETS;
  const counts = Array.from({ length: buckets }, () => 0);
  let sum = 0;
  let sumOfSquares = 0;
  for (const value of values) {
    sum += value;
    sumOfSquares += value * value;
    counts[range === 0 ? 0 : Math.min(buckets - 1, Math.floor(((value - min) / range) * buckets))]!++;
  }
  const limits = counts.map((_, i) => (i === buckets - 1 ? max : Math.min(max, min + range * ((i + 1) / buckets))));
  return { min, max, count: values.length, sum, sumOfSquares, limits, counts };
}

/** `tensorflow.HistogramProto`. */
export function histogramMessage(histogram: ValueHistogram): ProtobufWriter {
  return new ProtobufWriter()
    .double(1, histogram.min)
    .double(2, histogram.max)
    .double(3, histogram.count)
    .double(4, histogram.sum)
    .double(5, histogram.sumOfSquares)
    .packedDoubles(6, histogram.limits)
    .packedDoubles(7, histogram.counts);
}
