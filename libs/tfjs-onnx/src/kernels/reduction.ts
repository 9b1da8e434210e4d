import * as tf from '@tensorflow/tfjs';
import { dimAt, type Recorded, type Recording } from '../recording';
import { assertType, type Kernel, required } from './kernel';

interface Reduction {
  readonly axes: readonly number[];
  readonly shape: readonly number[];
  readonly size: number;
}

function reductionOf(x: Recorded, axis: number | number[] | null | undefined, keepDims: boolean): Reduction {
  const axes = tf.util.parseAxisParam(axis as number | number[], [...x.shape]);
  const [outer, reduced] = tf.backend_util.computeOutAndReduceShapes([...x.shape], axes);
  const shape = keepDims ? tf.backend_util.expandShapeToKeepDim(outer, axes) : outer;
  return { axes, shape, size: tf.util.sizeFromShape(reduced) };
}

/** An ONNX reduction over no axes would reduce them all, so that case is the tensor itself. */
function reduce(recording: Recording, op: string, x: Recorded, { axes, shape }: Reduction): Recorded {
  if (axes.length === 0) return x;
  const keepdims = shape.length === x.shape.length ? 1 : 0;
  if (op === 'ReduceSum') {
    return recording.op(op, [x], x.dtype, shape, { keepdims }, recording.graph.int64(...axes));
  }
  return recording.op(op, [x], x.dtype, shape, { keepdims, axes });
}

const sum: Kernel = (recording, inputs, attrs) => {
  const { axis, keepDims } = attrs as tf.SumAttrs;
  const x = required(inputs, 'x');
  const numbers = x.dtype === 'bool' ? recording.cast(x, 'int32') : x;
  return reduce(recording, 'ReduceSum', numbers, reductionOf(x, axis, keepDims));
};

const prod: Kernel = (recording, inputs, attrs) => {
  const { axis, keepDims } = attrs as tf.ProdAttrs;
  const x = required(inputs, 'x');
  return reduce(recording, 'ReduceProd', x, reductionOf(x, axis, keepDims));
};

/** tfjs divides an empty mean to 0; a missing number is an error here. */
const mean: Kernel = (recording, inputs, attrs) => {
  const { axis, keepDims } = attrs as tf.MeanAttrs;
  const x = required(inputs, 'x');
  const reduction = reductionOf(x, axis, keepDims);
  if (reduction.size === 0) throw new RangeError(`the mean of no elements (shape [${x.shape.join()}]) is not defined`);
  return reduce(recording, 'ReduceMean', recording.cast(x, 'float32'), reduction);
};

/** onnxruntime's ReduceMax and ReduceMin lose a NaN that is not first in its row; here any NaN makes the result NaN. */
function extremum(kernel: string, op: 'ReduceMax' | 'ReduceMin', axisName: 'reductionIndices' | 'axis'): Kernel {
  return (recording, inputs, attrs) => {
    const { keepDims, [axisName]: axis } = attrs as { keepDims: boolean } & Record<string, number | number[]>;
    const x = required(inputs, 'x');
    assertType(kernel, x, 'float32', 'int32');
    const reduction = reductionOf(x, axis as number | number[], keepDims);
    if (reduction.size === 0) throw new RangeError(`${kernel} of no elements (shape [${x.shape.join()}])`);
    const result = reduce(recording, op, x, reduction);
    if (x.dtype === 'int32' || reduction.axes.length === 0) return result;
    const { graph } = recording;
    const isNaN = graph.cast(graph.op('IsNaN', [recording.full(x)]), 'uint8');
    const keepdims = reduction.shape.length === x.shape.length ? 1 : 0;
    const anyNaN = graph.cast(graph.op('ReduceMax', [isNaN], { axes: reduction.axes, keepdims }), 'bool');
    const condition = recording.symbolic(anyNaN, 'bool', reduction.shape);
    return recording.select(condition, recording.scalar(Number.NaN, 'float32'), result);
  };
}

const cumsum: Kernel = (recording, inputs, attrs) => {
  const { axis, exclusive, reverse } = attrs as tf.CumsumAttrs;
  const x = required(inputs, 'x');
  assertType('Cumsum', x, 'float32', 'int32');
  const [along] = tf.util.parseAxisParam(axis, [...x.shape]) as [number];
  const position = recording.graph.constant(Int32Array.of(along), []);
  const flags = { exclusive: exclusive ? 1 : 0, reverse: reverse ? 1 : 0 };
  return recording.op('CumSum', [x], x.dtype, x.shape, flags, position);
};

/** ONNX has no cumulative product: log₂(n) products with a copy of itself moved by 1, 2, 4, ... and filled with ones. */
const cumprod: Kernel = (recording, inputs, attrs) => {
  const { axis, exclusive, reverse } = attrs as tf.CumprodAttrs;
  const x = required(inputs, 'x');
  assertType('Cumprod', x, 'float32', 'int32');
  const [along] = tf.util.parseAxisParam(axis, [...x.shape]) as [number];
  const size = dimAt(x.shape, along);
  const moved = (tensor: Recorded, by: number): Recorded => {
    const { graph } = recording;
    const bounds = [reverse ? by : 0, reverse ? size : size - by, along].map((bound) => graph.int64(bound));
    const kept = recording.op('Slice', [tensor], x.dtype, x.shape.with(along, size - by), {}, ...bounds);
    const ones = recording.uniform(1, x.dtype, x.shape.with(along, by));
    return recording.op('Concat', reverse ? [kept, ones] : [ones, kept], x.dtype, x.shape, { axis: along });
  };
  let product = exclusive && size > 0 ? moved(x, 1) : x;
  for (let by = 1; by < size; by *= 2) product = recording.elementwise('Mul', [product, moved(product, by)], x.dtype);
  return product;
};

/** ArgMax and ArgMin; the first of equal elements. */
function argExtremum(op: 'ArgMax' | 'ArgMin'): Kernel {
  return (recording, inputs, attrs) => {
    const { axis } = attrs as tf.ArgMaxAttrs;
    const x = required(inputs, 'x');
    assertType(op, x, 'float32', 'int32');
    const reduction = reductionOf(x, axis, false);
    const index = recording.graph.op(op, [recording.full(x)], { axis: reduction.axes[0] as number, keepdims: 0 });
    return recording.symbolic(recording.graph.cast(index, 'int32'), 'int32', reduction.shape);
  };
}

function allOrAny(op: 'ReduceMin' | 'ReduceMax'): Kernel {
  return (recording, inputs, attrs) => {
    const { axis, keepDims } = attrs as tf.AnyAttrs;
    const x = required(inputs, 'x');
    const reduction = reductionOf(x, axis, keepDims);
    return recording.cast(reduce(recording, op, recording.cast(x, 'int32'), reduction), 'bool');
  };
}

function lastAxis(op: 'Softmax' | 'LogSoftmax'): Kernel {
  return (recording, inputs) => {
    const logits = required(inputs, 'logits');
    assertType(op, logits, 'float32');
    return recording.op(op, [logits], 'float32', logits.shape, { axis: -1 });
  };
}

export const reductionKernels: Readonly<Record<string, Kernel>> = {
  All: allOrAny('ReduceMin'),
  Any: allOrAny('ReduceMax'),
  ArgMax: argExtremum('ArgMax'),
  ArgMin: argExtremum('ArgMin'),
  Cumprod: cumprod,
  Cumsum: cumsum,
  LogSoftmax: lastAxis('LogSoftmax'),
  Max: extremum('Max', 'ReduceMax', 'reductionIndices'),
  Mean: mean,
  Min: extremum('Min', 'ReduceMin', 'axis'),
  Prod: prod,
  Softmax: lastAxis('Softmax'),
  Sum: sum,
};
