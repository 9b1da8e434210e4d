import * as tf from '@tensorflow/tfjs';
import { causalBlocks, mix, mixInBlocks } from './attention';

const [BATCH, HEADS, KV_HEADS, LENGTH, HEAD_DIM] = [2, 4, 2, 12, 4];

beforeAll(async () => {
  await tf.setBackend('cpu');
});

const tensors = (): tf.Tensor4D[] =>
  [HEADS, KV_HEADS, KV_HEADS].map((heads, seed) =>
    tf.randomNormal<tf.Rank.R4>([BATCH, heads, LENGTH, HEAD_DIM], 0, 1, 'float32', seed + 1),
  );

/** Causal, and the second sequence has two tokens of padding before it. */
function bias(): tf.Tensor4D {
  const values = Array.from({ length: BATCH * LENGTH * LENGTH }, (_, at) => {
    const [row, query, key] = [Math.floor(at / LENGTH ** 2), Math.floor(at / LENGTH) % LENGTH, at % LENGTH];
    return key > query || (row === 1 && key < 2) ? -1e9 : 0;
  });
  return tf.tensor4d(values, [BATCH, 1, LENGTH, LENGTH]);
}

it.each([1, 2, 3, 4])('%d blocks of queries give what all at once give, and the same gradients', (blocks) => {
  tf.tidy(() => {
    // What a query of padding gives means nothing: it sees no key, and here one block of them, there all.
    const counts = tf.concat(
      [
        tf.ones([1, 1, LENGTH, 1]),
        tf.pad(tf.ones([1, 1, LENGTH - 2, 1]), [
          [0, 0],
          [0, 0],
          [2, 0],
          [0, 0],
        ]),
      ],
      0,
    );
    const weight = tf.mul(tf.randomNormal([BATCH, HEADS, LENGTH, HEAD_DIM], 0, 1, 'float32', 9), counts);
    const mask = bias();
    const whole = (q: tf.Tensor, k: tf.Tensor, v: tf.Tensor): tf.Tensor =>
      tf.sum(tf.mul(mix(q as tf.Tensor4D, k as tf.Tensor4D, v as tf.Tensor4D, mask), weight));
    const parts = (q: tf.Tensor, k: tf.Tensor, v: tf.Tensor): tf.Tensor =>
      tf.sum(tf.mul(mixInBlocks(q as tf.Tensor4D, k as tf.Tensor4D, v as tf.Tensor4D, mask, blocks), weight));
    const expected = tf.valueAndGrads(whole as (...x: tf.Tensor[]) => tf.Scalar)(tensors());
    const found = tf.valueAndGrads(parts as (...x: tf.Tensor[]) => tf.Scalar)(tensors());
    const pairs = [
      [found.value, expected.value] as const,
      ...found.grads.map((g, i) => [g, expected.grads[i]!] as const),
    ];
    for (const [a, b] of pairs) expect(tf.max(tf.abs(tf.sub(a, b))).dataSync()[0]).toBeLessThan(1e-5);
  });
});

it('has the gradients that the derivative of each operation has', () => {
  tf.tidy(() => {
    const weight = tf.randomNormal([BATCH, HEADS, LENGTH, HEAD_DIM], 0, 1, 'float32', 9);
    const mask = bias();
    const fold = (x: tf.Tensor): tf.Tensor3D => tf.reshape(x, [BATCH * KV_HEADS, -1, HEAD_DIM]);
    const plain = (q: tf.Tensor, k: tf.Tensor, v: tf.Tensor): tf.Tensor => {
      const scores = tf.reshape(tf.matMul(fold(q), fold(k), false, true), [BATCH, HEADS, LENGTH, LENGTH]);
      const probabilities = tf.softmax(tf.add(scores, mask));
      const mixed = tf.matMul(tf.reshape(probabilities, [BATCH * KV_HEADS, -1, LENGTH]), fold(v));
      return tf.sum(tf.mul(tf.reshape(mixed, weight.shape), weight));
    };
    const own = (q: tf.Tensor, k: tf.Tensor, v: tf.Tensor): tf.Tensor =>
      tf.sum(tf.mul(mix(q as tf.Tensor4D, k as tf.Tensor4D, v as tf.Tensor4D, mask), weight));
    const [expected, found] = [plain, own].map((of) =>
      tf.valueAndGrads(of as (...x: tf.Tensor[]) => tf.Scalar)(tensors()),
    );
    const pairs = [[found!.value, expected!.value], ...found!.grads.map((g, i) => [g, expected!.grads[i]!])];
    for (const [a, b] of pairs) expect(tf.max(tf.abs(tf.sub(a!, b!))).dataSync()[0]).toBeLessThan(1e-5);
  });
});

it.each([
  { length: 128, blocks: 1, why: 'blocks of 64 are too small to be fast' },
  { length: 192, blocks: 1, why: 'so are those of 96' },
  { length: 256, blocks: 2, why: '128 each' },
  { length: 384, blocks: 3, why: '128 each' },
  { length: 512, blocks: 4, why: '128 each' },
  { length: 1024, blocks: 4, why: 'more blocks leave out little more' },
  { length: 257, blocks: 1, why: 'a length that no number of blocks divides' },
])('a sequence of $length is mixed in $blocks: $why', ({ length, blocks }) =>
  expect(causalBlocks(length)).toBe(blocks),
);
