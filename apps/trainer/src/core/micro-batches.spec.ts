import fc from 'fast-check';
import { bucketOf, microBatches, rowBucketOf } from './micro-batches';

describe('bucketOf', () => {
  it('has the lengths 64, 128, 192, 256, 384, 512, 768, 1024', () => {
    const buckets = new Set(Array.from({ length: 1024 }, (_, i) => bucketOf(i + 1)));
    expect([...buckets]).toEqual([64, 128, 192, 256, 384, 512, 768, 1024]);
  });
  it('holds its own length exactly', () => {
    for (const length of [64, 128, 192, 384, 1536, 12_288]) expect(bucketOf(length)).toBe(length);
  });
});

it('rowBucketOf has the rows 1, 2, 3, 4, 6, 8, 12, 16', () => {
  expect([...new Set(Array.from({ length: 16 }, (_, i) => rowBucketOf(i + 1)))]).toEqual([1, 2, 3, 4, 6, 8, 12, 16]);
});

const paddedTokens = (batches: readonly { rows: number; length: number }[]): number =>
  batches.reduce((sum, { rows, length }) => sum + rows * length, 0);

/** What a pass after the other holds as much as it can. */
function greedy(lengths: readonly number[], budget: number): { rows: number; length: number }[] {
  const sorted = lengths.toSorted((a, b) => b - a);
  const batches: { rows: number; length: number }[] = [];
  for (let first = 0; first < sorted.length;) {
    const length = bucketOf(sorted[first]!);
    const room = Math.floor(budget / length);
    const count = Math.min(room, sorted.length - first);
    batches.push({ rows: Math.min(room, rowBucketOf(count)), length });
    first += count;
  }
  return batches;
}

describe('microBatches', () => {
  it.each([
    { lengths: [70, 100, 60], batches: [[[1, 0, 2], 3, 128]], why: 'a small batch is one pass' },
    {
      lengths: [1000, 60, 60, 60],
      batches: [
        [[0], 1, 1024],
        [[1, 2, 3], 3, 64],
      ],
      why: 'one long sample does not stretch the others',
    },
    {
      lengths: [60, 60, 60, 60, 60],
      batches: [[[0, 1, 2, 3, 4], 6, 64]],
      why: 'one row of padding is cheaper than a pass',
    },
    {
      lengths: Array.from({ length: 9 }, () => 512),
      batches: [
        [[0, 1, 2, 3, 4, 5, 6, 7], 8, 512],
        [[8], 1, 512],
      ],
      why: 'a pass is cheaper than three rows of padding',
    },
  ])('$lengths: $why', ({ lengths, batches }) => {
    expect(microBatches(lengths, 8192).map(({ samples, rows, length }) => [samples, rows, length])).toEqual(batches);
  });

  it('D57: keeps every pass within the token budget', () => {
    expect(microBatches([500, 60, 500, 60], 1024)).toEqual([
      { samples: [0, 2], rows: 2, length: 512 },
      { samples: [1, 3], rows: 2, length: 64 },
    ]);
    expect(() => microBatches([1100], 1024)).toThrow(/1100/);
    expect(microBatches([], 1024)).toEqual([]);
  });

  it('D57: has every sample in exactly one pass that can hold it, and never more padding and passes than a greedy cut', () => {
    const lengths = fc.array(fc.integer({ min: 1, max: 1024 }), { minLength: 1, maxLength: 60 });
    fc.assert(
      fc.property(lengths, fc.integer({ min: 1024, max: 9000 }), (samplesOf, budget) => {
        const batches = microBatches(samplesOf, budget);
        const seen = batches.flatMap(({ samples }) => samples).sort((a, b) => a - b);
        expect(seen).toEqual(samplesOf.map((_, i) => i));
        for (const { samples, rows, length } of batches) {
          expect(rows * length).toBeLessThanOrEqual(budget);
          expect(samples.length).toBeLessThanOrEqual(rows);
          for (const i of samples) expect(samplesOf[i]).toBeLessThanOrEqual(length);
        }
        const plain = greedy(samplesOf, budget);
        expect(paddedTokens(batches) + 128 * batches.length).toBeLessThanOrEqual(
          paddedTokens(plain) + 128 * plain.length,
        );
      }),
    );
  });

  it('pads a mixed batch by less than a third', () => {
    // Lengths of conversations: many short ones, a few long.
    const lengths = Array.from({ length: 64 }, (_, i) => Math.round(40 * 1.055 ** i));
    const used = lengths.reduce((sum, length) => sum + length, 0);
    expect(paddedTokens(microBatches(lengths, 8192)) / used).toBeLessThan(4 / 3);
  });
});
