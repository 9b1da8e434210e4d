import * as tf from '@tensorflow/tfjs';
import fc from 'fast-check';
import { assertClose, host, noise, runCpu, runOnnx } from './testing/compare';

type Tensors = Record<string, tf.Tensor>;

/** One step of a program: an op and where it takes its operands and parameters from. */
interface Step {
  readonly op: number;
  readonly x: number;
  readonly y: number;
  readonly p: number;
}

// Every op is smooth or has its kinks at constants that values do not hit, so that rounding cannot flip a gradient.
// `p` chooses axes and sizes. An op that does not fit the shape gives null and is passed over.
type Op = (x: tf.Tensor, y: tf.Tensor, p: number) => tf.Tensor | null;

/** A condition on x, which has no gradient: tfjs knows none for comparisons, on any backend. */
const condition = (x: tf.Tensor, test: (x: tf.Tensor) => tf.Tensor): tf.Tensor =>
  tf.customGrad((...args: unknown[]) => ({
    value: test(args[0] as tf.Tensor),
    gradFunc: (dy: tf.Tensor) => [tf.zerosLike(tf.cast(dy, 'float32'))],
  }))(x);
const positive = (x: tf.Tensor): tf.Tensor => tf.add(tf.square(x), 0.5);
const axisOf = (x: tf.Tensor, p: number): number => p % x.rank;
const ranked = (x: tf.Tensor, fn: () => tf.Tensor): tf.Tensor | null => (x.rank === 0 ? null : fn());
const small = (x: tf.Tensor): boolean => x.rank < 4 && x.size <= 400;
const indicesFor = (size: number, p: number): tf.Tensor1D =>
  tf.tensor1d([p % size, 0, (p * 7) % size, p % size], 'int32');

const ops: Record<string, Op> = {
  tanh: (x) => tf.tanh(x),
  sigmoid: (x) => tf.sigmoid(x),
  exp: (x) => tf.exp(tf.tanh(x)),
  expm1: (x) => tf.expm1(tf.tanh(x)),
  log: (x) => tf.log(positive(x)),
  log1p: (x) => tf.log1p(tf.square(x)),
  sqrt: (x) => tf.sqrt(positive(x)),
  rsqrt: (x) => tf.rsqrt(positive(x)),
  pow: (x, y) => (tf.util.arraysEqual(x.shape, y.shape) ? tf.pow(positive(x), tf.tanh(y)) : tf.pow(positive(x), 1.7)),
  neg: (x) => tf.neg(x),
  square: (x) => tf.square(tf.tanh(x)),
  relu: (x) => tf.relu(tf.add(x, 0.2113)),
  abs: (x) => tf.abs(tf.add(x, 0.1371)),
  leakyRelu: (x) => tf.leakyRelu(tf.add(x, 0.0713)),
  clip: (x) => tf.clipByValue(x, -0.7131, 0.5917),
  softplus: (x) => tf.softplus(x),
  erf: (x) => tf.erf(x),
  sin: (x) => tf.sin(x),
  cos: (x) => tf.cos(x),
  add: (x, y) => tf.add(x, fitted(x, y)),
  sub: (x, y) => tf.sub(fitted(x, y), x),
  mul: (x, y) => tf.mul(x, fitted(x, y)),
  div: (x, y) => tf.div(x, positive(fitted(x, y))),
  squaredDifference: (x, y) => tf.squaredDifference(tf.tanh(x), tf.broadcastTo(tf.tanh(fitted(x, y)), x.shape)),
  maximum: (x) => tf.maximum(x, 0.1931),
  minimum: (x, y) => (tf.util.arraysEqual(x.shape, y.shape) && x !== y ? tf.minimum(x, tf.add(y, 0.0317)) : null),
  where: (x, y) =>
    tf.where(
      condition(x, (v) => tf.greater(v, 0.0917)),
      x,
      tf.mul(fitted(x, y), 0.5),
    ),
  masked: (x) =>
    tf.where(
      condition(x, (v) => tf.logicalOr(tf.less(v, -0.3171), tf.greaterEqual(v, 0.2773))),
      x,
      tf.zerosLike(x),
    ),
  indicator: (x) =>
    tf.mul(
      x,
      tf.cast(
        condition(x, (v) => tf.lessEqual(v, 0.3317)),
        'float32',
      ),
    ),
  sum: (x, _, p) => ranked(x, () => tf.sum(x, axisOf(x, p), p % 3 === 0)),
  mean: (x, _, p) => ranked(x, () => tf.mean(x, p % 2 === 0 ? undefined : axisOf(x, p), p % 3 === 0)),
  prod: (x, _, p) => ranked(x, () => tf.prod(tf.tanh(x), axisOf(x, p))),
  max: (x, _, p) => ranked(x, () => tf.max(x, axisOf(x, p), p % 3 === 0)),
  min: (x, _, p) => ranked(x, () => tf.min(x, axisOf(x, p), p % 3 === 0)),
  logSumExp: (x, _, p) => ranked(x, () => tf.logSumExp(tf.tanh(x), axisOf(x, p), p % 3 === 0)),
  moments: (x, _, p) => ranked(x, () => tf.moments(x, axisOf(x, p), p % 3 === 0).variance),
  cumsum: (x, _, p) => ranked(x, () => tf.cumsum(tf.tanh(x), x.rank - 1, p % 2 === 0, p % 3 === 0)),
  softmax: (x) => ranked(x, () => tf.softmax(tf.mul(tf.tanh(x), 3))),
  logSoftmax: (x) => ranked(x, () => tf.logSoftmax(x)),
  norm: (x) => tf.sqrt(tf.add(tf.sum(tf.square(tf.tanh(x))), 0.1)),
  flatten: (x) => tf.reshape(x, [-1]),
  foldOne: (x) => ranked(x, () => tf.reshape(x, [x.shape.at(-1)!, -1])),
  transpose: (x) => tf.transpose(x),
  expandDims: (x, _, p) => (small(x) ? tf.expandDims(x, p % (x.rank + 1)) : null),
  squeeze: (x) => tf.squeeze(x),
  concat: (x, y, p) =>
    tf.util.arraysEqual(x.shape, y.shape) && small(x) ? ranked(x, () => tf.concat([x, y], axisOf(x, p))) : null,
  stack: (x, y, p) => (tf.util.arraysEqual(x.shape, y.shape) && small(x) ? tf.stack([x, y], p % (x.rank + 1)) : null),
  // tfjs' gradients of squaredDifference with broadcasting, of unstack along one element and of cumsum along other than the last axis are wrong in shape.
  unstack: (x, _, p) => ranked(x, () => (x.shape[axisOf(x, p)]! < 2 ? x : tf.unstack(x, axisOf(x, p)).at(-1)!)),
  split: (x, _, p) =>
    ranked(x, () =>
      x.shape[axisOf(x, p)]! < 2
        ? x
        : tf.concat(tf.split(x, [1, x.shape[axisOf(x, p)]! - 1], axisOf(x, p)).reverse(), axisOf(x, p)),
    ),
  slice: (x, _, p) => ranked(x, () => tf.slice(x, p % x.shape[0]!)),
  pad: (x, _, p) =>
    small(x)
      ? ranked(x, () =>
          tf.pad(
            x,
            x.shape.map((_, axis) => (axis === axisOf(x, p) ? [1, p % 2] : [0, 0]) as [number, number]),
            0.5,
          ),
        )
      : null,
  reverse: (x, _, p) => ranked(x, () => tf.reverse(x, axisOf(x, p))),
  tile: (x, _, p) =>
    small(x)
      ? ranked(x, () =>
          tf.tile(
            x,
            x.shape.map((_, axis) => (axis === axisOf(x, p) ? 2 : 1)),
          ),
        )
      : null,
  broadcastTo: (x) => (small(x) ? tf.broadcastTo(x, [2, ...x.shape]) : null),
  gather: (x, _, p) =>
    small(x) ? ranked(x, () => tf.gather(x, indicesFor(x.shape[axisOf(x, p)]!, p), axisOf(x, p))) : null,
  oneHot: (x, _, p) =>
    ranked(x, () => (x.shape.at(-1)! < 2 ? x : tf.mul(x, tf.oneHot(p % x.shape.at(-1)!, x.shape.at(-1)!)))),
  segmentSum: (x, _, p) =>
    x.rank < 2
      ? null
      : tf.unsortedSegmentSum(
          x,
          tf.tensor1d(
            Array.from({ length: x.shape[0]! }, (_, row) => (row * p) % 3),
            'int32',
          ),
          3,
        ),
  matMul: (x) => (x.rank < 2 ? null : tf.matMul(tf.tanh(x), tf.tanh(x), false, true)),
  gram: (x) => (x.rank < 2 || x.shape.at(-1)! > 12 ? null : tf.matMul(tf.tanh(x), tf.tanh(x), true, false)),
  project: (x) =>
    ranked(x, () =>
      tf.matMul(tf.reshape(x, [-1, x.shape.at(-1)!]), tf.reshape(tf.linspace(-1, 1, x.shape.at(-1)! * 3), [-1, 3])),
    ),
  ownGradient: (x) =>
    tf.customGrad((...args: unknown[]) => {
      const [value, save] = args as [tf.Tensor, (tensors: tf.Tensor[]) => void];
      save([value]);
      return { value: tf.sin(value), gradFunc: (dy: tf.Tensor, saved: tf.Tensor[]) => [tf.mul(dy, tf.cos(saved[0]!))] };
    })(x),
};
const names = Object.keys(ops);

/** y where it broadcasts to x's shape, else its mean. */
function fitted(x: tf.Tensor, y: tf.Tensor): tf.Tensor {
  const offset = x.rank - y.rank;
  const fits = offset >= 0 && y.shape.every((dim, axis) => dim === 1 || dim === x.shape[axis + offset]);
  return fits ? y : tf.mean(y);
}

function program(steps: readonly Step[]): (inputs: Tensors) => Tensors {
  return (inputs) => {
    const variables = Object.values(inputs);
    const outputs: Tensors = {};
    const { value, grads } = tf.valueAndGrads((...given: tf.Tensor[]) => {
      const pool = [...given];
      for (const { op, x, y, p } of steps) {
        const from = (index: number): tf.Tensor => pool[pool.length - 1 - (index % Math.min(pool.length, 6))]!;
        const result = ops[names[op % names.length]!]!(from(x), from(y), p);
        if (result !== null && result.rank <= 5 && result.size <= 4000) pool.push(result);
      }
      // Every value counts, and every input has a path to the loss.
      return tf.addN(pool.map((tensor) => tf.mean(tf.tanh(tensor))));
    })(variables);
    outputs['loss'] = value;
    for (const [index, name] of Object.keys(inputs).entries()) outputs[name] = grads[index]!;
    return outputs;
  };
}

const inputs = {
  matrix: noise([3, 4], 1),
  row: noise([4], 2),
  cube: noise([2, 3, 4], 3),
  column: noise([3, 1], 4),
  scalar: host('float32', [], [0.37]),
};

const step: fc.Arbitrary<Step> = fc.record({ op: fc.nat(names.length - 1), x: fc.nat(5), y: fc.nat(5), p: fc.nat(11) });

describe('programs that the library was not written for', () => {
  it('compute what the cpu backend computes, with the same gradients', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 14 }), async (steps) => {
        const fn = program(steps);
        assertClose(await runOnnx(fn, inputs), await runCpu(fn, inputs), 1e-4);
      }),
      { seed: 20_261_130, numRuns: 60 },
    );
  });

  it.each(names.map((name, op) => [name, op] as const))('%s by itself', async (_name, op) => {
    const fn = program([0, 1, 2, 3, 4].map((x) => ({ op, x, y: x, p: x + 3 })));
    assertClose(await runOnnx(fn, inputs), await runCpu(fn, inputs), 2e-5);
  });
});
