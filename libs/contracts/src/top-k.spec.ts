import { decodeTopK, encodeTopK } from './top-k';

const value = { k: 2, ids: Int32Array.of(5, 9, 1, 0), logProbs: Float32Array.of(-0.25, -2, -0.5, -1) };

it('reads back what it wrote', () => {
  expect(decodeTopK(encodeTopK(value))).toEqual(value);
});

it('reads a value that lies at an odd offset of a larger buffer', () => {
  const bytes = encodeTopK(value);
  const shifted = new Uint8Array(bytes.length + 3);
  shifted.set(bytes, 3);
  expect(decodeTopK(shifted.subarray(3))).toEqual(value);
});

it.each([
  ['ids that are no whole rows', { ...value, ids: Int32Array.of(1, 2, 3), logProbs: Float32Array.of(-1, -1, -1) }],
  ['fewer log-probs than ids', { ...value, logProbs: Float32Array.of(-1, -1) }],
  ['a log-prob that is missing, which is not zero', { ...value, logProbs: Float32Array.of(-1, NaN, -1, -1) }],
  ['nothing', { k: 2, ids: Int32Array.of(), logProbs: Float32Array.of() }],
])('refuses to write %s', (_, broken) => {
  expect(() => encodeTopK(broken)).toThrow(RangeError);
});

it.each([
  ['a cut value', (bytes: Uint8Array) => bytes.subarray(0, bytes.length - 1)],
  ['a header alone', (bytes: Uint8Array) => bytes.subarray(0, 12)],
  ['other bytes', () => new TextEncoder().encode('{"k": 2, "ids": []}')],
  ['nothing', () => new Uint8Array()],
])('refuses to read %s', (_, broken) => {
  expect(() => decodeTopK(broken(encodeTopK(value)))).toThrow(RangeError);
});
