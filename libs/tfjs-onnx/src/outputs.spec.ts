import * as tf from '@tensorflow/tfjs';
import { CompiledFunction } from './compiled-function';
import { record } from './record';
import { assertClose, host, ids, noise, runCpu, runOnnx } from './testing/compare';

type Inputs = Record<string, tf.Tensor>;

it('an output is written where it was told to, and an array of another size is refused', async () => {
  const [x, w] = [noise([2, 3], 1), noise([3, 4], 2)];
  const compiled = new CompiledFunction(
    ({ x, w }: Inputs) => ({ y: tf.matMul(x as tf.Tensor2D, w as tf.Tensor2D), z: tf.neg(x!) }),
    { threads: 1 },
  );
  // The second half of a larger array, as of a memory that holds more than that.
  const y = new Float32Array(new ArrayBuffer(64), 32, 8);
  const result = await compiled.run({ x, w }, { y });
  expect(result.y.data).toBe(y);
  assertClose(result, await compiled.run({ x, w }), 0);
  expect(y.some((value) => value !== 0)).toBe(true);
  await expect(compiled.run({ x, w }, { y: new Float32Array(9) })).rejects.toThrow(
    'output "y" has 8 elements, the array for it 9',
  );
  await compiled.dispose();
});

describe('a sum of rows', () => {
  const sum = (x: tf.Tensor, i: tf.Tensor, count = 5): tf.Tensor => tf.unsortedSegmentSum(x, i as tf.Tensor1D, count);
  const given = {
    x: noise([9, 3], 1),
    z: noise([4, 3], 2),
    dense: noise([5, 3], 3),
    i: ids([9], 5, 4),
    // Two of them are outside.
    j: host('int32', [4], [4, -1, 2, 5]),
  };
  const operators = (fn: (inputs: Inputs) => Record<string, tf.Tensor>, isForCpu: boolean): string =>
    Buffer.from(record('sum', fn, given, isForCpu).model).toString('latin1');

  const outside: [string, (inputs: Inputs) => tf.Tensor][] = [
    ['alone', ({ x, i }) => sum(x!, i!)],
    ['and a tensor', ({ x, i, dense }) => tf.add(sum(x!, i!), tf.square(dense!))],
    ['a tensor and two', ({ x, i, z, j, dense }) => tf.add(tf.add(sum(z!, j!), dense!), sum(x!, i!))],
    ['two of them with a tensor each', ({ x, i, z, j, dense }) => tf.add(tf.add(sum(z!, j!), dense!), tf.add(dense!, sum(x!, i!)))], // prettier-ignore
    ['the gradient of a choice', ({ dense, i }) => tf.grad((all) => tf.sum(tf.square(tf.gather(all, i as tf.Tensor1D))))(dense!)], // prettier-ignore
  ];
  it.each(outside)('that only leaves a graph is added up outside of it: %s', async (_, fn) => {
    const named = (inputs: Inputs): Record<string, tf.Tensor> => ({ y: fn(inputs) });
    expect(operators(named, true)).not.toContain('ScatterElements');
    expect(operators(named, false)).toContain('ScatterElements');
    assertClose(await runOnnx(named, given), await runCpu(named, given), 1e-6);
  });

  const inside: [string, (inputs: Inputs) => tf.Tensor][] = [
    ['multiplied', ({ x, i }) => tf.mul(sum(x!, i!), 2)],
    ['times one', ({ x, i }) => tf.mul(sum(x!, i!), tf.ones([2, 5, 3]))],
    ['and a tensor that broadcasts', ({ x, i, dense }) => tf.add(sum(x!, i!), tf.slice(dense!, [0, 0], [1, 3]))],
    ['in another shape', ({ x, i }) => tf.reshape(sum(x!, i!), [15])],
    ['turned', ({ x, i }) => tf.transpose(sum(x!, i!))],
  ];
  it.each(inside)('of which something is made is a value of the graph: %s', async (_, fn) => {
    const named = (inputs: Inputs): Record<string, tf.Tensor> => ({ y: fn(inputs) });
    expect(operators(named, true)).toContain('ScatterElements');
    assertClose(await runOnnx(named, given), await runCpu(named, given), 1e-6);
  });

  it('may leave the graph and be used there', async () => {
    const fn = ({ x, i, dense }: Inputs): Record<string, tf.Tensor> => {
      const y = tf.add(sum(x!, i!), dense!);
      return { y, again: y, square: tf.square(y) };
    };
    assertClose(await runOnnx(fn, given), await runCpu(fn, given), 1e-6);
  });

  it('is written where it was told to, whatever stood there', async () => {
    for (const [, fn] of outside) {
      const compiled = new CompiledFunction((inputs: Inputs) => ({ y: fn(inputs) }), { threads: 1 });
      const y = new Float32Array(15).fill(NaN);
      const found = await compiled.run(given, { y });
      expect(found.y.data).toBe(y);
      assertClose(found, await compiled.run(given), 0);
      await compiled.dispose();
    }
  });
});
