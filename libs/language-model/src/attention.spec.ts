import { CompiledFunction, type HostTensor } from '@hindcast/tfjs-onnx';
import * as tf from '@tensorflow/tfjs';
import { causalBlocks, causalMix, mix, mixInBlocks } from './attention';

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

describe('causalMix', () => {
  const [width, names] = [8, ['q', 'k', 'v', 'weight']] as const;
  type Inputs = Record<string, tf.Tensor>;
  type Mix = (q: tf.Tensor4D, k: tf.Tensor4D, v: tf.Tensor4D) => tf.Tensor4D;

  /** Of queries, keys and values by position. */
  const withGradients =
    (mixOf: Mix) =>
    ({ q, k, v, weight }: Inputs): Record<string, tf.Tensor> => {
      const outputs: Record<string, tf.Tensor> = {};
      const loss = (...x: tf.Tensor[]): tf.Scalar => {
        const mixed = mixOf(...(x as [tf.Tensor4D, tf.Tensor4D, tf.Tensor4D]));
        outputs['mixed'] = tf.keep(mixed.clone());
        return tf.sum(tf.mul(mixed, weight!));
      };
      tf.grads(loss)([q!, k!, v!]).forEach((gradient, i) => (outputs[names[i]!] = gradient));
      return outputs;
    };

  function inputs(scale: number): Record<string, HostTensor> {
    const heads = [HEADS, KV_HEADS, KV_HEADS, HEADS];
    return Object.fromEntries(
      names.map((name, i) => {
        const shape = [BATCH, LENGTH, heads[i]!, width];
        const values = tf.randomNormal(shape, 0, name === 'weight' ? 1 : scale, 'float32', i + 1);
        return [name, { dtype: 'float32', shape, data: values.dataSync() as Float32Array }];
      }),
    );
  }

  const byHead = (x: tf.Tensor4D): tf.Tensor4D => tf.transpose(x, [0, 2, 1, 3]);
  const composed: Mix = (q, k, v) => {
    const places = tf.range(0, LENGTH);
    const isSeen = tf.lessEqual(tf.reshape(places, [1, -1]), tf.reshape(places, [-1, 1]));
    const mask = tf.reshape<tf.Rank.R4>(tf.where(isSeen, 0, -1e9), [1, 1, LENGTH, LENGTH]);
    return byHead(mix(byHead(q), byHead(k), byHead(v), mask));
  };
  const recorded: Mix = (q, k, v) => causalMix(q, k, v)!;

  // Scores of some 100 too, next to which most others are nothing.
  it.each([1, 4])(
    'is one operation in a graph for the CPU, with the numbers and gradients of mix (scale %d)',
    async (scale) => {
      const given = inputs(scale);
      const tensors = Object.fromEntries(
        Object.entries(given).map(([name, { data, shape }]) => [name, tf.tensor(data, [...shape])]),
      );
      const expected = withGradients(composed)(tensors);
      const compiled = new CompiledFunction(withGradients(recorded), { threads: 2 });
      const found: Record<string, HostTensor> = await compiled.run(given);
      await compiled.dispose();
      expect(Object.keys(found).sort()).toEqual(['k', 'mixed', 'q', 'v']);
      for (const [name, tensor] of Object.entries(expected)) {
        const differences = tf.abs(tf.sub(tensor, tf.tensor(found[name]!.data, tensor.shape)));
        expect([name, tf.max(differences).dataSync()[0]! < 1e-5 * scale ** 3]).toEqual([name, true]);
      }
    },
  );

  it('is there for no other backend or provider, nor for heads of a width that is no multiple of 8', async () => {
    const [q, k, v] = tensors().map((x) => tf.transpose(x, [0, 2, 1, 3])) as [tf.Tensor4D, tf.Tensor4D, tf.Tensor4D];
    expect(causalMix(q, k, v)).toBeNull();
    const found: (tf.Tensor | null)[] = [];
    const tryOut = async (provider: string, size: number): Promise<void> => {
      const shape = [1, 2, 1, size];
      const compiled = new CompiledFunction(
        ({ x }: Record<'x', tf.Tensor>) => {
          const mixed = causalMix(x as tf.Tensor4D, x as tf.Tensor4D, x as tf.Tensor4D);
          found.push(mixed);
          return { y: mixed ?? x };
        },
        { threads: 1, executionProviders: [provider] },
      );
      await compiled.run({ x: { dtype: 'float32', shape, data: new Float32Array(2 * size) } }).catch(() => undefined);
      await compiled.dispose();
    };
    await tryOut('cpu', 8);
    await tryOut('cpu', 4);
    await tryOut('elsewhere', 8);
    await tryOut('cpu', 8);
    expect(found.map((mixed) => mixed !== null)).toEqual([true, false, false, true]);
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
