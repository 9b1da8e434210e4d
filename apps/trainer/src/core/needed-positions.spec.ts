import fc from 'fast-check';
import type { MicroBatch } from './micro-batches';
import { NEEDED_PLACES, NEEDED_ROWS, neededTensors } from './needed-positions';

const sample = (prompt: number, response: number) => ({
  promptIds: new Int32Array(prompt),
  responseIds: new Int32Array(response),
});

it('names the positions that predict a response token, then one that does not', () => {
  const samples = [sample(3, 1), sample(2, 2)];
  const batch: MicroBatch = { samples: [1, 0], rows: 2, length: 8 };
  expect(neededTensors(samples, batch)).toEqual({
    [NEEDED_ROWS]: { dtype: 'int32', shape: [4], data: Int32Array.of(1, 2, 10, 0) },
    [NEEDED_PLACES]: {
      dtype: 'int32',
      shape: [16],
      data: Int32Array.of(3, 0, 1, 3, 3, 3, 3, 3, 3, 3, 2, 3, 3, 3, 3, 3),
    },
  });
});

it('leaves nothing out where nearly all is needed', () => {
  expect(neededTensors([sample(1, 64)], { samples: [0], rows: 1, length: 64 })).toEqual({});
  expect(neededTensors([sample(9, 56)], { samples: [0], rows: 1, length: 64 })).toEqual({});
  expect(neededTensors([sample(10, 55)], { samples: [0], rows: 1, length: 64 })).not.toEqual({});
});

it('has every needed position once, a place for each, and the rest at the end', () => {
  const lengths = fc.tuple(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1, max: 25 }));
  fc.assert(
    fc.property(fc.array(lengths, { minLength: 1, maxLength: 6 }), fc.integer({ min: 0, max: 3 }), (all, empty) => {
      const samples = all.map(([prompt, response]) => sample(prompt, response));
      const batch = { samples: samples.map((_, i) => i), rows: samples.length + empty, length: 64 };
      const tensors = neededTensors(samples, batch);
      const needed = all.flatMap(([prompt, response], row) =>
        Array.from({ length: response }, (_, i) => row * 64 + prompt - 1 + i),
      );
      const placeOf = new Map(needed.map((position, i) => [position, i]));
      const total = batch.rows * 64;
      if (Object.keys(tensors).length === 0) return expect(needed.length).toBeGreaterThanOrEqual((7 / 8) * total);
      const rows = Array.from(tensors[NEEDED_ROWS]!.data);
      const places = Array.from(tensors[NEEDED_PLACES]!.data);
      expect(rows.slice(0, needed.length)).toEqual(needed);
      expect(rows.length).toBeGreaterThan(needed.length);
      expect(rows.slice(needed.length).filter((position) => placeOf.has(position))).toEqual([]);
      expect(places).toEqual(places.map((_, position) => placeOf.get(position) ?? rows.length - 1));
    }),
  );
});
