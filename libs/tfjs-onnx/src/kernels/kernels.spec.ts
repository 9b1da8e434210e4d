import * as tf from '@tensorflow/tfjs';
import { host, assertClose, ids, noise, runCpu, runOnnx } from '../testing/compare';
import type { HostTensor } from '../host-tensor';
import { kernels } from './kernel-table';

// tfjs checks after every kernel that it left no data behind but its results.
tf.env().set('IS_TEST', true);

const a = noise([2, 3, 4], 1);
const b = noise([3, 1], 2);
const positive = host('float32', [2, 3], [0.1, 0.5, 1, 2, 3, 40]);
const tiny = host('float32', [6], [1e-8, -1e-8, 1e-3, -0.4, 0.6, 3]);
const whole = host('int32', [2, 3], [7, -7, 0, 5, -1, 2]);
const divisor = host('int32', [2, 3], [2, 2, 3, -3, 4, 0]);
const flags = host('bool', [2, 3], [1, 0, 1, 0, 0, 1]);
const other = host('bool', [3], [1, 1, 0]);

type Case = [string, (t: Record<string, tf.Tensor>) => tf.Tensor | tf.Tensor[], Record<string, HostTensor>, number?];
const inputs = { a, b };

const cases: Case[] = [
  ['add, broadcast', ({ a, b }) => tf.add(a!, b!), inputs],
  ['sub of int32', ({ x, y }) => tf.sub(x!, y!), { x: whole, y: divisor }],
  ['mul of int32 and float32', ({ x, y }) => tf.mul(x!, y!), { x: whole, y: noise([2, 3], 3) }],
  ['div', ({ a, b }) => tf.div(a!, b!), inputs, 1e-5],
  ['div of int32 is the floor, and 0 for a zero divisor', ({ x, y }) => tf.div(x!, y!), { x: whole, y: divisor }],
  ['floorDiv of float32', ({ a, b }) => tf.floorDiv(a!, b!), inputs],
  ['pow', ({ x }) => tf.pow(x!, 1.7), { x: positive }],
  ['pow of negative bases', ({ a }) => tf.pow(a!, tf.scalar(3)), inputs],
  ['pow of int32', ({ x }) => tf.pow(x!, tf.scalar(2, 'int32')), { x: whole }],
  ['maximum and minimum', ({ a, b }) => tf.maximum(tf.minimum(a!, b!), -0.3), inputs],
  ['squaredDifference', ({ a, b }) => tf.squaredDifference(a!, b!), inputs],
  ['addN', ({ a }) => tf.addN([a!, tf.neg(a!), tf.square(a!)]), inputs],
  ['exp, log, sqrt, rsqrt', ({ x }) => tf.addN([tf.exp(x!), tf.log(x!), tf.sqrt(x!), tf.rsqrt(x!)]), { x: positive }],
  ['log and sqrt outside their domain', ({ a }) => [tf.log(a!), tf.sqrt(a!), tf.log(tf.relu(a!))], inputs],
  ['log1p of tiny values', ({ x }) => tf.mul(tf.log1p(x!), 1e8), { x: tiny }],
  ['expm1 of tiny values', ({ x }) => tf.mul(tf.expm1(x!), 1e8), { x: tiny }],
  ['log1p at −1 and beyond', ({ x }) => tf.log1p(x!), { x: host('float32', [3], [-1, -2, Infinity]) }],
  ['tanh, sigmoid, softplus, erf', ({ a }) => [tf.tanh(a!), tf.sigmoid(a!), tf.softplus(a!), tf.erf(a!)], inputs, 1e-5],
  ['relu, leakyRelu, abs, sign, neg', ({ a }) => [tf.relu(a!), tf.leakyRelu(a!), tf.abs(a!), tf.sign(a!)], inputs],
  ['relu and abs of int32', ({ x }) => [tf.relu(x!), tf.abs(x!), tf.neg(x!), tf.sign(x!)], { x: whole }],
  ['step', ({ a }) => [tf.step(a!), tf.step(a!, -0.5)], inputs],
  ['clipByValue', ({ a, x }) => [tf.clipByValue(a!, -0.2, 0.4), tf.clipByValue(x!, -1, 3)], { a, x: whole }],
  ['floor, ceil, round', ({ a }) => [tf.floor(tf.mul(a!, 3)), tf.ceil(a!), tf.round(tf.mul(a!, 3))], inputs],
  ['sin, cos, reciprocal, square', ({ a }) => [tf.sin(a!), tf.cos(a!), tf.reciprocal(a!), tf.square(a!)], inputs, 1e-5],
  ['trigonometry', ({ a }) => [tf.tan(a!), tf.asin(a!), tf.acos(a!), tf.atan(a!), tf.atanh(a!)], inputs, 1e-5],
  [
    'hyperbolic functions',
    ({ a, x }) => [tf.sinh(a!), tf.cosh(a!), tf.asinh(a!), tf.acosh(x!)],
    { a, x: positive },
    1e-5,
  ],
  [
    'isFinite and isInf',
    ({ x }) => [tf.isFinite(x!), tf.isInf(x!)],
    { x: host('float32', [4], [1, NaN, Infinity, -Infinity]) },
  ],
  [
    'cumprod',
    ({ a }) => [
      tf.cumprod(a!, 1),
      tf.cumprod(a!, 2, true),
      tf.cumprod(a!, 2, true, true),
      tf.cumprod(a!, 0, false, true),
    ],
    inputs,
  ],
  [
    'comparisons',
    ({ a, b }) => [tf.greater(a!, b!), tf.greaterEqual(a!, b!), tf.lessEqual(a!, b!), tf.less(a!, 0), tf.equal(a!, a!)],
    inputs,
  ],
  ['notEqual', ({ x }) => tf.notEqual(x!, tf.scalar(0, 'int32')), { x: whole }],
  ['logic', ({ f, g }) => [tf.logicalAnd(f!, g!), tf.logicalOr(f!, g!), tf.logicalNot(f!)], { f: flags, g: other }],
  ['isNaN', ({ x }) => tf.isNaN(x!), { x: host('float32', [2], [NaN, 1]) }],
  [
    'casts',
    ({ a, f }) => [tf.cast(tf.mul(a!, 5), 'int32'), tf.cast(f!, 'float32'), tf.cast(a!, 'bool')],
    { a, f: flags },
  ],
  [
    'where',
    ({ f, a, b }) => tf.where(tf.greater(a!, 0), a!, tf.mul(b!, f!)),
    { ...inputs, f: host('int32', [1], [3]) },
  ],
  ['where of bool', ({ f, g }) => tf.where(f!, g!, tf.logicalNot(f!)), { f: flags, g: other }],
  ['where of scalars', ({ f }) => tf.where(f!, tf.scalar(1), tf.scalar(-1)), { f: flags }],
  ['sum', ({ a }) => [tf.sum(a!), tf.sum(a!, 1), tf.sum(a!, [0, -1], true)], inputs],
  ['sum of bool and int32', ({ f, x }) => [tf.sum(f!, 1), tf.sum(x!)], { f: flags, x: whole }],
  ['sum over no axes and of a scalar', ({ a }) => [tf.sum(a!, []), tf.sum(tf.sum(a!))], inputs],
  ['sum of nothing', ({ a }) => tf.sum(tf.slice(a!, [0, 0, 0], [2, 0, 4]), 1), inputs],
  ['mean', ({ a, x }) => [tf.mean(a!, 0), tf.mean(a!, -1, true), tf.mean(x!)], { a, x: whole }],
  ['max and min', ({ a, x }) => [tf.max(a!, 1), tf.min(a!, [0, 2], true), tf.max(x!), tf.min(x!, 0)], { a, x: whole }],
  ['prod, any, all', ({ a, f }) => [tf.prod(a!, 1), tf.any(f!, 1), tf.all(f!, 0)], { a, f: flags }],
  ['argMax and argMin', ({ a }) => [tf.argMax(a!, 1), tf.argMin(a!, -1)], inputs],
  ['logSumExp', ({ a }) => [tf.logSumExp(a!, 1), tf.logSumExp(a!)], inputs],
  ['cumsum', ({ a }) => [tf.cumsum(a!, 1), tf.cumsum(a!, 2, true, true)], inputs],
  ['softmax and logSoftmax', ({ a }) => [tf.softmax(tf.mul(a!, 30)), tf.logSoftmax(tf.mul(a!, 30))], inputs],
  ['norm and moments', ({ a }) => [tf.norm(a!), tf.moments(a!, 1).variance], inputs],
  ['reshape and transpose', ({ a }) => tf.transpose(tf.reshape(a!, [4, -1, 3]), [2, 0, 1]), inputs],
  ['expandDims and squeeze', ({ a }) => tf.squeeze(tf.expandDims(tf.expandDims(a!, -1), 0)), inputs],
  ['concat and split', ({ a }) => tf.concat(tf.split(a!, [1, 3], -1).reverse(), 2), inputs],
  ['stack and unstack', ({ a }) => tf.stack(tf.unstack(a!, 1).reverse(), -1), inputs],
  ['slice', ({ a }) => tf.slice(a!, [0, 1, 2], [-1, 2, 1]), inputs],
  ['stridedSlice', ({ a }) => tf.stridedSlice(a!, [1, 0, 3], [-3, 3, 0], [-1, 2, -2], 0, 1), inputs],
  ['stridedSlice to one row', ({ a }) => tf.stridedSlice(a!, [1, 0], [2, 3], [1, 1], 0, 0, 0, 0, 1), inputs],
  ['reverse', ({ a }) => [tf.reverse(a!, [0, 2]), tf.reverse(a!)], inputs],
  ['pad', ({ a, x }) => [tf.pad(a!, [[1, 0], [0, 2], [0, 0]], 7), tf.pad(x!, [[1, 1], [0, 1]])], { a, x: whole }], // prettier-ignore
  [
    'tile',
    ({ a, b, f }) => [tf.tile(a!, [2, 1, 3]), tf.tile(b!, [1, 5]), tf.tile(f!, [2, 2])],
    { ...inputs, f: flags },
  ],
  ['broadcastTo', ({ b }) => tf.broadcastTo(b!, [2, 3, 4]), inputs],
  [
    'ones that do not make the product larger',
    ({ a }) => [tf.mul(a!, tf.ones([1])), tf.mul(a!, tf.ones([1, 1, 1, 4])), tf.mul(tf.ones([3, 1]), a!)],
    inputs,
  ],
  ['a broadcast tensor in ops that need all of it', ({ b }) => tf.reshape(tf.broadcastTo(b!, [3, 4]), [2, 6]), inputs],
  ['gather', ({ a, i }) => [tf.gather(a!, i!, 1), tf.gather(a!, i!, -1)], { a, i: ids([2, 2], 3, 4) }],
  ['gather in batches', ({ a, i }) => tf.gather(a!, i!, 1, 1), { a, i: ids([2, 5], 3, 5) }],
  ['gather in batches, inner axis', ({ a, i }) => tf.gather(a!, i!, 2, 1), { a, i: ids([2, 5], 4, 5) }],
  ['oneHot, ids outside are off', ({ i }) => tf.oneHot(i!, 3), { i: host('int32', [5], [0, 2, 3, -1, 1]) }],
  ['oneHot as float', ({ i }) => tf.mul(tf.oneHot(i!, 3, 5, -1), tf.scalar(0.5)), { i: ids([4], 3, 6) }],
  ['oneHot as bool', ({ i }) => tf.oneHot(i!, 3, 1, 0, 'bool'), { i: ids([4], 3, 6) }],
  ['unsortedSegmentSum', ({ x, i }) => tf.unsortedSegmentSum(x!, i! as tf.Tensor1D, 3), { x: noise([8, 2, 2], 7), i: ids([8], 3, 8) }], // prettier-ignore
  ['unsortedSegmentSum drops ids outside', ({ x, i }) => [tf.unsortedSegmentSum(x!, i! as tf.Tensor1D, 2), tf.unsortedSegmentSum(x!, i! as tf.Tensor1D, 9)], { x: noise([4, 2], 7), i: host('int32', [4], [-1, 1, 9, 1]) }], // prettier-ignore
  ['matMul', ({ a, w }) => [tf.matMul(a!, a!, false, true), tf.matMul(a!, a!, true, false), tf.matMul(tf.reshape(a!, [6, 4]), w!, false, true)], { a, w: noise([5, 4], 9) }], // prettier-ignore
  [
    'matMul of both transposed',
    ({ x, y }) => tf.matMul(x!, y!, true, true),
    { x: noise([3, 2], 9), y: noise([4, 3], 8) },
  ],
  ['matMul with one batch broadcast', ({ a, w }) => tf.matMul(a!, w!), { a, w: noise([1, 4, 2], 9) }],
  ['matMul of int32', ({ x }) => tf.matMul(x!, x!, false, true), { x: whole }],
  ['dot', ({ b }) => tf.dot(tf.squeeze(b!), tf.squeeze(b!)), inputs],
  ['constants made inside', ({ b }) => tf.addN([tf.range(0, 3), tf.linspace(0, 1, 3), tf.fill([3], 2), tf.ones([3]), tf.squeeze(b!)]), inputs], // prettier-ignore
  ['a range down', ({ b }) => tf.mul(tf.range(4, 1, -1), tf.squeeze(b!)), inputs],
  ['zerosLike and onesLike', ({ x }) => [tf.zerosLike(x!), tf.onesLike(x!)], { x: whole }],
  [
    'outputs that are inputs or constants',
    ({ x, f }) => [x!, f!, tf.zeros([2, 2]), tf.tensor([1, 2])],
    { x: whole, f: flags },
  ],
  [
    'eye and constants in shapes',
    () => [tf.eye(3), tf.reshape(tf.ones([6]), [2, 3]), tf.tensor2d([[1, 2]])],
    { x: whole },
  ],
];

function named(result: tf.Tensor | tf.Tensor[]): Record<string, tf.Tensor> {
  return Object.fromEntries((Array.isArray(result) ? result : [result]).map((tensor, index) => [`${index}`, tensor]));
}

describe('recorded kernels give what the cpu backend gives', () => {
  it.each(cases)('%s', async (_name, fn, tensors, tolerance = 2e-6) => {
    const run = (t: Record<string, tf.Tensor>): Record<string, tf.Tensor> => named(fn(t));
    assertClose(await runOnnx(run, tensors), await runCpu(run, tensors), tolerance);
  });

  it('covers every kernel', async () => {
    const called = new Set<string>();
    await tf.setBackend('cpu');
    for (const [, fn, tensors] of cases) {
      const { kernelNames } = await tf.profile(() =>
        tf.tidy(() => {
          fn(
            Object.fromEntries(
              Object.entries(tensors).map(([name, { data, shape, dtype }]) => [
                name,
                tf.tensor(data, [...shape], dtype),
              ]),
            ),
          );
          return tf.scalar(0);
        }),
      );
      for (const name of kernelNames) called.add(name);
    }
    // No tfjs op calls these: logSoftmax is composed, broadcastTo is Tile, clone is made by gradients, and rotation is nobody's.
    const unreachable = ['LogSoftmax', 'BroadcastTo', 'Identity', 'RotaryEmbedding'];
    expect(Object.keys(kernels).filter((name) => !called.has(name) && !unreachable.includes(name))).toEqual([]);
  });
});

describe('unsortedSegmentSum in pieces', () => {
  it('sums the same when the one-hot matrix would be larger than allowed', async () => {
    const [count, segments] = [4096, 8000];
    const values = noise([count, 2], 1);
    const segmentIds = ids([count], segments + 200, 2);
    segmentIds.data[0] = -1;
    const expected = new Float32Array(segments * 2);
    segmentIds.data.forEach((id, row) => {
      if (id < 0 || id >= segments) return;
      for (const column of [0, 1]) expected[id * 2 + column]! += values.data[row * 2 + column]!;
    });
    const { y } = await runOnnx(({ x, i }) => ({ y: tf.unsortedSegmentSum(x!, i as tf.Tensor1D, segments) }), {
      x: values,
      i: segmentIds,
    });
    assertClose({ y: y! }, { y: host('float32', [segments, 2], expected) }, 1e-6);
  });
});

describe('missing numbers stay missing', () => {
  const x = host('float32', [2, 3], [1, NaN, 2, 3, 4, 5]);
  const nan: Case[] = [
    ['max', ({ x }) => [tf.max(x!, 1), tf.max(x!), tf.max(x!, 0, true)], { x }],
    ['min', ({ x }) => [tf.min(x!, 1), tf.min(x!), tf.min(x!, 0, true)], { x }],
    ['maximum and minimum', ({ x }) => [tf.maximum(x!, 2), tf.minimum(x!, 2), tf.minimum(2, x!)], { x }],
    ['clipByValue', ({ x }) => tf.clipByValue(x!, 2, 3), { x }],
    ['relu and step', ({ x }) => [tf.relu(x!), tf.step(x!)], { x }],
    ['sum and mean', ({ x }) => [tf.sum(x!, 1), tf.mean(x!)], { x }],
    ['softmax', ({ x }) => [tf.softmax(x!), tf.logSoftmax(x!), tf.logSumExp(x!, 1)], { x }],
    ['ones · x', ({ x }) => tf.mul(x!, tf.ones([2, 3])), { x }],
    ['zeros · x', ({ x }) => tf.mul(x!, tf.zeros([2, 3])), { x }],
    ['where', ({ x }) => tf.where(tf.greater(x!, 2), x!, tf.zerosLike(x!)), { x }],
  ];
  it.each(nan)('%s', async (_name, fn, tensors) => {
    const run = (t: Record<string, tf.Tensor>): Record<string, tf.Tensor> => named(fn(t));
    assertClose(await runOnnx(run, tensors), await runCpu(run, tensors), 1e-6);
  });

  it('kernels that tfjs composes on its other backends', async () => {
    const kernel = (name: string, inputs: tf.NamedTensorMap, attrs: tf.NamedAttrMap): tf.Tensor =>
      tf.engine().runKernel(name, inputs, attrs);
    const recorded = await runOnnx(
      ({ a, b }) => ({
        logSoftmax: kernel('LogSoftmax', { logits: a! }, { axis: -1 }),
        broadcast: kernel('BroadcastTo', { x: b! }, { shape: [2, 3, 4], inputShape: [3, 1] }),
      }),
      inputs,
    );
    const composed = await runCpu(
      ({ a, b }) => ({ logSoftmax: tf.logSoftmax(a!), broadcast: tf.broadcastTo(b!, [2, 3, 4]) }),
      inputs,
    );
    assertClose(recorded, composed, 2e-6);
  });

  it.each([1, 2])('a rotation of halves, with %i table(s)', async (tables) => {
    const [length, heads, width] = [3, 5, 8];
    const given = {
      x: noise([2, length, heads, width], 1),
      cos: noise([tables, length, 1, width / 2], 2),
      sin: noise([tables, length, 1, width / 2], 3),
    };
    const recorded = await runOnnx(
      ({ x, cos, sin }) => ({
        y: tf.engine().runKernel('RotaryEmbedding', { x: x!, cos: cos!, sin: sin! }, {}) as tf.Tensor,
      }),
      given,
    );
    const composed = await runCpu(({ x, cos, sin }) => {
      const [a, b] = tf.split(x!, 2, 3) as [tf.Tensor, tf.Tensor];
      const turn = (p: tf.Tensor, q: tf.Tensor) => tf.add(tf.mul(p, cos!), tf.mul(q, sin!));
      return { y: tf.concat([turn(a, tf.neg(b)), turn(b, a)], 3) };
    }, given);
    assertClose(recorded, composed, 1e-6);
  });

  it('the sign of NaN is NaN (tfjs-cpu says 0)', async () => {
    const { y } = await runOnnx(({ x }) => ({ y: tf.sign(x!) }), { x });
    expect(Array.from(y?.data ?? [])).toEqual([1, NaN, 1, 1, 1, 1]);
  });
});

describe('what has no sound meaning is refused', () => {
  const refused: [string, (t: Record<string, tf.Tensor>) => tf.Tensor, RegExp][] = [
    ['exp of int32', ({ x }) => tf.exp(x!), /Exp of int32 is not defined; cast to float32 with tf.cast/],
    ['add of bool', ({ f }) => tf.add(f!, f!), /Add of bool is not defined; cast to float32 or int32/],
    ['mean of nothing', ({ x }) => tf.mean(tf.slice(x!, 0, 0)), /the mean of no elements/],
    ['max of nothing', ({ x }) => tf.max(tf.slice(x!, 0, 0)), /Max of no elements/],
    [
      'clipping int32 to fractions',
      ({ x }) => tf.clipByValue(x!, 0.5, 2),
      /an int32 tensor cannot be clipped to 0.5..2/,
    ],
    ['matMul of sizes that differ', ({ x }) => tf.matMul(x!, x!), /inner sizes 3 and 2 differ/],
    ['complex numbers', ({ x }) => tf.cast(x!, 'complex64'), /complex64/],
    ['text', () => tf.tensor(['a']), /string tensors cannot be recorded/],
  ];
  it.each(refused)('%s', async (_name, fn, message) => {
    await expect(runOnnx((t) => ({ y: fn(t) }), { x: whole, f: flags })).rejects.toThrow(message);
  });

  it('an index outside fails the run, also a negative one', async () => {
    const fn = ({ a, i }: Record<string, tf.Tensor>): Record<string, tf.Tensor> => ({ y: tf.gather(a!, i!) });
    for (const index of [2, -1]) {
      await expect(runOnnx(fn, { a, i: host('int32', [1], [index]) })).rejects.toThrow(/out of data bounds/);
    }
    const batched = ({ a, i }: Record<string, tf.Tensor>): Record<string, tf.Tensor> => ({
      y: tf.gather(a!, i!, 1, 1),
    });
    await expect(runOnnx(batched, { a, i: host('int32', [2, 1], [3, 0]) })).rejects.toThrow(/out of data bounds/);
  });
});
