import { KvCache } from './kv-cache';

const shape = { layers: 2, kvHeads: 2, headDim: 3 };

/** A number that names its place: row, layer, head, position and whether it is a value. */
const place = (row: number, layer: number, head: number, position: number, isValue: number): number =>
  row * 1e5 + layer * 1e4 + head * 1e3 + position + isValue / 2;

/** Appends `count` positions to every row, `names[r]` being the sequence in row r. */
function append(cache: KvCache, names: readonly number[], count: number): void {
  cache.fit(count);
  for (let layer = 0; layer < shape.layers; layer++) {
    const filled = (isValue: number): Float32Array =>
      Float32Array.from(
        names.flatMap((name, row) =>
          [0, 1].flatMap((head) =>
            Array.from({ length: count }, (_, i) =>
              Array<number>(3).fill(place(name, layer, head, cache.lengths[row]! + i, isValue)),
            ).flat(),
          ),
        ),
      );
    cache.store(layer, filled(0), filled(1), count);
  }
  cache.advance(count);
}

function expectContents(cache: KvCache, names: readonly number[], lengths: readonly number[]): void {
  expect(cache.lengths).toEqual(lengths);
  for (let layer = 0; layer < shape.layers; layer++)
    for (const [isValue, array] of [cache.layerKeys(layer), cache.layerValues(layer)].entries()) {
      expect(array).toHaveLength(names.length * 2 * cache.capacity * 3);
      names.forEach((name, row) => {
        for (const head of [0, 1])
          for (let position = 0; position < lengths[row]!; position++)
            expect(array[((row * 2 + head) * cache.capacity + position) * 3 + 2]).toBe(
              place(name, layer, head, position, isValue),
            );
      });
    }
}

function single(name: number, length: number): KvCache {
  const cache = new KvCache(shape);
  cache.addRow();
  append(cache, [name], length);
  return cache;
}

it('keeps every row’s keys and values while rows grow, join and leave', () => {
  const cache = new KvCache(shape);
  cache.adopt(single(1, 10));
  cache.adopt(single(2, 70));
  expect(cache.capacity).toBe(128);
  append(cache, [1, 2], 1);
  cache.adopt(single(3, 3));
  append(cache, [1, 2, 3], 1);
  expectContents(cache, [1, 2, 3], [12, 72, 4]);
  cache.removeRow(0);
  expectContents(cache, [3, 2], [4, 72]);
  append(cache, [3, 2], 60);
  expect(cache.capacity).toBe(192);
  expectContents(cache, [3, 2], [64, 132]);
  cache.removeRow(1);
  expect(cache.capacity).toBe(64);
  expectContents(cache, [3], [64]);
  cache.removeRow(0);
  expect(cache.rows).toBe(0);
});

it('refuses a row that is not there and a cache of several rows', () => {
  const cache = single(1, 2);
  expect(() => cache.removeRow(1)).toThrow('no row 1 in a cache of 1');
  cache.addRow();
  expect(() => new KvCache(shape).adopt(cache)).toThrow('a cache of 2 rows cannot be adopted');
});
