import fc from 'fast-check';
import { bucketOf, microBatches } from './micro-batches';

describe('bucketOf', () => {
  it('has the lengths 64, 128, 192, 256, 384, 512, 768, 1024', () => {
    const buckets = new Set(Array.from({ length: 1024 }, (_, i) => bucketOf(i + 1)));
    expect([...buckets]).toEqual([64, 128, 192, 256, 384, 512, 768, 1024]);
  });
  it('holds its own length exactly', () => {
    for (const length of [64, 128, 192, 384, 1536, 12_288]) expect(bucketOf(length)).toBe(length);
  });
});

describe('microBatches', () => {
  it('puts a small batch into one pass, rows padded to a power of two', () => {
    expect(microBatches([70, 100, 60], 4096)).toEqual([{ samples: [1, 0, 2], rows: 4, length: 128 }]);
  });
  it('D57: keeps every pass within the token budget', () => {
    expect(microBatches([500, 60, 500, 60], 1024)).toEqual([
      { samples: [0, 2], rows: 2, length: 512 },
      { samples: [1, 3], rows: 2, length: 64 },
    ]);
    expect(() => microBatches([1100], 1024)).toThrow(/1100/);
  });
  it('has every sample in exactly one pass that can hold it', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 1024 }), { minLength: 1, maxLength: 40 }), (lengths) => {
        const batches = microBatches(lengths, 2048);
        const seen = batches.flatMap(({ samples }) => samples).sort((a, b) => a - b);
        expect(seen).toEqual(lengths.map((_, i) => i));
        for (const { samples, rows, length } of batches) {
          expect(rows * length).toBeLessThanOrEqual(2048);
          expect(samples.length).toBeLessThanOrEqual(rows);
          for (const i of samples) expect(lengths[i]).toBeLessThanOrEqual(length);
        }
      }),
    );
  });
});
