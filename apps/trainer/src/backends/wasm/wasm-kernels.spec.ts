import * as tf from '@tensorflow/tfjs';
import fc from 'fast-check';
import { chooseBackend } from '../choose-backend';
import { installWasmKernels, uninstallWasmKernels } from './wasm-kernels';

beforeAll(async () => {
  await chooseBackend('wasm', 1);
});
beforeEach(async () => {
  await tf.setBackend('wasm');
});

type Nested = { readonly shape: number[]; readonly data: Float32Array };
const sizeOf = (shape: readonly number[]): number => shape.reduce((product, dim) => product * dim, 1);

function largestDifference(a: ArrayLike<number>, b: ArrayLike<number>): number {
  let largest = 0;
  for (let i = 0; i < a.length; i++) {
    const difference = Math.abs(a[i]! - b[i]!);
    if (!(difference <= largest)) largest = difference;
  }
  return largest;
}

/** Row-major index of a broadcast batch → that of an operand. */
function indexOf(own: readonly number[], batch: readonly number[], product: number): number {
  const place: number[] = [];
  for (let d = batch.length - 1, rest = product; d >= 0; d--) {
    place.unshift(rest % batch[d]!);
    rest = Math.floor(rest / batch[d]!);
  }
  return own.reduce((index, dim, d) => index * dim + (dim === 1 ? 0 : place[d + batch.length - own.length]!), 0);
}

/** Written out in float64. */
function expectedProduct(a: Nested, b: Nested, transposeA: boolean, transposeB: boolean, batch: number[]): number[] {
  const [aRows, aColumns] = a.shape.slice(-2) as [number, number];
  const [bRows, bColumns] = b.shape.slice(-2) as [number, number];
  const [m, k] = transposeA ? [aColumns, aRows] : [aRows, aColumns];
  const n = transposeB ? bRows : bColumns;
  const out: number[] = [];
  for (let product = 0; product < sizeOf(batch); product++) {
    const fromA = indexOf(a.shape.slice(0, -2), batch, product) * m * k;
    const fromB = indexOf(b.shape.slice(0, -2), batch, product) * k * n;
    for (let row = 0; row < m; row++) {
      for (let column = 0; column < n; column++) {
        let sum = 0;
        for (let i = 0; i < k; i++) {
          const x = a.data[fromA + (transposeA ? i * m + row : row * k + i)]!;
          sum += x * b.data[fromB + (transposeB ? column * k + i : i * n + column)]!;
        }
        out.push(sum);
      }
    }
  }
  return out;
}

const values = (shape: number[], seed: number): Nested => ({
  shape,
  data: Float32Array.from({ length: sizeOf(shape) }, (_, i) => Math.sin(1 + seed + i * 1.7)),
});
const tensor = ({ shape, data }: Nested): tf.Tensor => tf.tensor(data, shape, 'float32');

/** Two shapes whose batch dimensions broadcast, and whether each is stored transposed. */
const products = fc
  .record({
    batch: fc.array(fc.record({ dim: fc.integer({ min: 1, max: 3 }), a: fc.boolean(), b: fc.boolean() }), {
      maxLength: 3,
    }),
    // Dimensions that both have at the front may be missing on one side.
    dropA: fc.nat(3),
    m: fc.oneof(fc.integer({ min: 1, max: 9 }), fc.constantFrom(33, 70)),
    k: fc.oneof(fc.integer({ min: 1, max: 9 }), fc.constantFrom(48, 100)),
    n: fc.oneof(fc.integer({ min: 1, max: 9 }), fc.constantFrom(31, 65)),
    transposeA: fc.boolean(),
    transposeB: fc.boolean(),
  })
  .map(({ batch, dropA, m, k, n, transposeA, transposeB }) => {
    const own = (side: 'a' | 'b'): number[] => batch.map((dim) => (dim[side] ? 1 : dim.dim));
    const both = batch.map(({ dim, a, b }) => (a && b ? 1 : dim));
    const left = batch.slice(0, dropA).every(({ a }) => a) ? own('a').slice(dropA) : own('a');
    return {
      a: [...left, ...(transposeA ? [k, m] : [m, k])],
      b: [...own('b'), ...(transposeB ? [n, k] : [k, n])],
      transposeA,
      transposeB,
      batch: both,
    };
  })
  .filter(({ a, b }) => a.length === b.length || a.length >= 2);

describe('the kernels of our own on wasm', () => {
  it('BatchMatMul is the written-out product for every shape, transpose and broadcast batch', () => {
    fc.assert(
      fc.property(products, ({ a: aShape, b: bShape, transposeA, transposeB, batch }) => {
        const [a, b] = [values(aShape, 0), values(bShape, 5)];
        const [left, right] = [tensor(a), tensor(b)];
        const result = tf.engine().runKernel('BatchMatMul', { a: left, b: right }, { transposeA, transposeB });
        const product = result as tf.Tensor;
        const expected = expectedProduct(a, b, transposeA, transposeB, batch);
        expect(product.shape.slice(0, -2)).toEqual(batch);
        const actual = product.dataSync();
        tf.dispose([left, right, product]);
        expect(actual).toHaveLength(expected.length);
        expect(largestDifference(actual, expected)).toBeLessThan(1e-4);
      }),
      { numRuns: 100 },
    );
  });

  it.each([
    { a: [0, 3], b: [3, 2], shape: [0, 2], why: 'no rows' },
    { a: [2, 0], b: [0, 2], shape: [2, 2], why: 'nothing to sum: zeros, not what the memory held before' },
    { a: [0, 2, 3], b: [3, 2], shape: [0, 2, 2], why: 'no matrices' },
  ])('BatchMatMul of [$a] and [$b]: $why', ({ a, b, shape }) => {
    tf.tidy(() => tf.fill([64, 64], 7).dataSync());
    const run = (): tf.Tensor =>
      tf
        .engine()
        .runKernel('BatchMatMul', { a: tf.zeros(a), b: tf.zeros(b) }, { transposeA: false, transposeB: false });
    tf.tidy(() => {
      const product = run();
      expect(product.shape).toEqual(shape);
      expect([...product.dataSync()].every((x) => x === 0)).toBe(true);
    });
  });

  it('a right matrix that is packed again and again under new contents is read afresh', () => {
    const ones = tf.ones([1, 64]);
    for (let i = 0; i < 5; i++) {
      const sums = tf.tidy(() => tf.matMul(ones, tf.fill([64, 3], i)).dataSync());
      expect([...sums]).toEqual([64 * i, 64 * i, 64 * i]);
    }
    ones.dispose();
  });

  it('_FusedMatMul adds the bias once (K = 100 is more than one block), then the activation', () => {
    tf.tidy(() => {
      const [a, b, bias] = [tensor(values([4, 100], 1)), tensor(values([5, 100], 2)), tensor(values([5], 3))];
      for (const activation of ['linear', 'relu', 'relu6', 'elu', 'sigmoid', 'leakyrelu'] as const) {
        const fused = tf.fused.matMul({ a: a as tf.Tensor2D, b: b as tf.Tensor2D, transposeB: true, bias, activation });
        const plain = tf.add(tf.matMul(a, b, false, true), bias);
        const expected = {
          linear: plain,
          relu: tf.relu(plain),
          relu6: tf.relu6(plain),
          elu: tf.elu(plain),
          sigmoid: tf.sigmoid(plain),
          leakyrelu: tf.leakyRelu(plain, 0.2),
        }[activation];
        expect(Math.max(...tf.abs(tf.sub(fused, expected)).dataSync())).toBeLessThan(1e-6);
      }
    });
  });

  it('UnsortedSegmentSum sums rows by id, leaves out ids outside, and starts from zero', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: -1, max: 6 }), { minLength: 1, maxLength: 12 }),
        fc.array(fc.integer({ min: 1, max: 3 }), { maxLength: 2 }),
        fc.integer({ min: 1, max: 6 }),
        (ids, rowShape, numSegments) => {
          const x = values([ids.length, ...rowShape], 4);
          const row = sizeOf(rowShape);
          const expected = new Array<number>(numSegments * row).fill(0);
          ids.forEach((id, i) => {
            if (id < 0 || id >= numSegments) return;
            for (let j = 0; j < row; j++) expected[id * row + j]! += x.data[i * row + j]!;
          });
          const sums = tf.tidy(() =>
            tf.unsortedSegmentSum(tensor(x), tf.tensor1d(ids, 'int32'), numSegments).dataSync(),
          );
          expect(sums).toHaveLength(expected.length);
          expect(largestDifference(sums, expected)).toBeLessThan(1e-5);
        },
      ),
    );
  });

  it.each([
    { from: 'float32' as const, to: 'int32' as const, data: [1.9, -1.9, 0], expected: [1, -1, 0] },
    { from: 'float32' as const, to: 'bool' as const, data: [0.5, 256, 0], expected: [1, 1, 0] },
    { from: 'bool' as const, to: 'float32' as const, data: [1, 0, 1], expected: [1, 0, 1] },
    { from: 'float32' as const, to: 'float32' as const, data: [1.5, 2, 3], expected: [1.5, 2, 3] },
  ])('Cast $from → $to', ({ from, to, data, expected }) => {
    tf.tidy(() => expect([...tf.cast(tf.tensor1d(data, from), to).dataSync()]).toEqual(expected));
  });

  it('OneHot is of the dtype that was asked for', () => {
    tf.tidy(() => {
      for (const dtype of ['float32', 'int32', 'bool'] as const) {
        const hot = tf.oneHot(tf.tensor1d([1, 0, 3, -1], 'int32'), 3, 1, 0, dtype);
        expect(hot.dtype).toBe(dtype);
        expect([...hot.dataSync()]).toEqual([0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0]);
      }
      expect([...tf.oneHot(tf.tensor1d([1], 'int32'), 2, 0.5, -0.25, 'float32').dataSync()]).toEqual([-0.25, 0.5]);
    });
  });

  it('copies that share values free them with the last one', () => {
    const before = tf.memory();
    const x = tf.tensor1d([1, 2, 3]);
    const copy = tf.engine().runKernel('Identity', { x }) as tf.Tensor;
    x.dispose();
    expect([...copy.dataSync()]).toEqual([1, 2, 3]);
    copy.dispose();
    expect(tf.memory()).toMatchObject({ numTensors: before.numTensors, numDataBuffers: before.numDataBuffers });
  });

  it('what does not fit is refused also where the end of the heap was freed', () => {
    const [held, freed] = [tf.ones([75_000]), tf.ones([500_000])];
    freed.dispose();
    expect(() => tf.tidy(() => tf.tile(tf.ones([1, 2 ** 15]), [2 ** 15 - 1, 1]))).toThrow(/limit is 4 GiB/);
    held.dispose();
  });

  it.each([
    { rows: 2 ** 15, why: 'malloc would take 4 GiB for none' },
    { rows: 2 ** 15 - 1, why: 'malloc has no 4 GiB' },
  ])('what does not fit into 4 GiB is an error that says so: $why', ({ rows }) => {
    const { numTensors } = tf.memory();
    expect(() => tf.tidy(() => tf.tile(tf.ones([1, 2 ** 15]), [rows, 1]))).toThrow(/limit is 4 GiB/);
    expect(tf.memory().numTensors).toBe(numTensors);
    tf.tidy(() => expect([...tf.add(tf.ones([2]), 1).dataSync()]).toEqual([2, 2]));
  });

  it("the backend's own kernels come back, for comparison", () => {
    const ours = tf.getKernel('BatchMatMul', 'wasm');
    uninstallWasmKernels();
    expect(tf.getKernel('BatchMatMul', 'wasm')).not.toBe(ours);
    expect(tf.getKernel('UnsortedSegmentSum', 'wasm')).toBeUndefined();
    installWasmKernels();
    expect(tf.getKernel('UnsortedSegmentSum', 'wasm')).toBeDefined();
  });
});
