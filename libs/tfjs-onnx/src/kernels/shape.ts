import * as tf from '@tensorflow/tfjs';
import { sizeOf } from '../host-tensor';
import { dimAt, type Recorded, type Recording, sameShape } from '../recording';
import { type Kernel, required } from './kernel';

const reshape: Kernel = (recording, inputs, attrs) => {
  const x = required(inputs, 'x');
  const shape = tf.util.inferFromImplicitShape([...(attrs as tf.ReshapeAttrs).shape], sizeOf(x.shape));
  if (sizeOf(shape) !== sizeOf(x.shape)) {
    throw new RangeError(`a tensor of shape [${x.shape.join()}] cannot be reshaped to [${shape.join()}]`);
  }
  return recording.reshape(x, shape);
};

const expandDims: Kernel = (recording, inputs, attrs) => {
  const input = required(inputs, 'input');
  const { dim } = attrs as tf.ExpandDimsAttrs;
  return recording.reshape(input, input.shape.toSpliced(dim < 0 ? dim + input.shape.length + 1 : dim, 0, 1));
};

const transpose: Kernel = (recording, inputs, attrs) =>
  recording.transpose(required(inputs, 'x'), (attrs as tf.TransposeAttrs).perm);

const concat: Kernel = (recording, inputs, attrs) => {
  const tensors = Object.values(inputs);
  const first = tensors[0] as Recorded;
  const [axis] = tf.util.parseAxisParam((attrs as tf.ConcatAttrs).axis, [...first.shape]) as [number];
  const shapes = tensors.map((tensor) => [...tensor.shape]);
  tf.backend_util.assertParamsConsistent(shapes, axis);
  if (tensors.some((tensor) => tensor.dtype !== first.dtype)) throw new TypeError('concat of different dtypes');
  return recording.op('Concat', tensors, first.dtype, tf.backend_util.computeOutShape(shapes, axis), { axis });
};

const pack: Kernel = (recording, inputs, attrs) => {
  const tensors = Object.values(inputs);
  const first = tensors[0] as Recorded;
  const { axis } = attrs as tf.PackAttrs;
  const position = axis < 0 ? axis + first.shape.length + 1 : axis;
  if (tensors.some(({ shape }) => !sameShape(shape, first.shape))) throw new RangeError('stack of different shapes');
  const rows = tensors.map((tensor) => recording.reshape(tensor, first.shape.toSpliced(position, 0, 1)));
  const shape = first.shape.toSpliced(position, 0, tensors.length);
  return recording.op('Concat', rows, first.dtype, shape, { axis: position });
};

function split(recording: Recording, x: Recorded, axis: number, sizes: readonly number[]): Recorded[] {
  if (sizes.length === 1) return [x];
  const { graph } = recording;
  return graph
    .ops('Split', [recording.full(x), graph.int64(...sizes)], sizes.length, { axis })
    .map((value, index) => recording.symbolic(value, x.dtype, x.shape.with(axis, sizes[index] as number)));
}

const splitV: Kernel = (recording, inputs, attrs) => {
  const x = required(inputs, 'x');
  const { numOrSizeSplits, axis } = attrs as tf.SplitVAttrs;
  const [along] = tf.util.parseAxisParam(axis, [...x.shape]) as [number];
  const sizes = tf.backend_util.prepareSplitSize({ shape: [...x.shape] } as tf.Tensor, numOrSizeSplits, along);
  return split(recording, x, along, sizes);
};

const unpack: Kernel = (recording, inputs, attrs) => {
  const value = required(inputs, 'value');
  const [along] = tf.util.parseAxisParam((attrs as tf.UnpackAttrs).axis, [...value.shape]) as [number];
  const sizes = new Array<number>(dimAt(value.shape, along)).fill(1);
  const shape = value.shape.toSpliced(along, 1);
  return split(recording, value, along, sizes).map((part) => recording.reshape(part, shape));
};

const slice: Kernel = (recording, inputs, attrs) => {
  const x = required(inputs, 'x');
  const { begin, size } = attrs as tf.SliceAttrs;
  const shaped = { shape: [...x.shape], rank: x.shape.length } as tf.Tensor;
  const [start, lengths] = tf.slice_util.parseSliceParams(shaped, begin, size) as [number[], number[]];
  tf.slice_util.assertParamsValid(shaped, start, lengths);
  return strided(
    recording,
    x,
    start,
    start.map((from, axis) => from + dimAt(lengths, axis)),
    lengths,
  );
};

function strided(
  recording: Recording,
  x: Recorded,
  starts: readonly number[],
  ends: readonly number[],
  shape: readonly number[],
  steps: readonly number[] = starts.map(() => 1),
): Recorded {
  if (sameShape(shape, x.shape) && steps.every((step) => step === 1)) return x;
  const { graph } = recording;
  const bounds = [starts, ends, starts.map((_, axis) => axis), steps].map((values) => graph.int64(...values));
  return recording.op('Slice', [x], x.dtype, shape, {}, ...bounds);
}

/** An end before the first element, as ONNX wants it when the step is negative (−1 would mean the last element). */
const BEFORE_FIRST = Number.MIN_SAFE_INTEGER;

const stridedSlice: Kernel = (recording, inputs, attrs) => {
  const x = required(inputs, 'x');
  const a = attrs as tf.StridedSliceAttrs;
  const info = tf.slice_util.sliceInfo(
    [...x.shape],
    a.begin,
    a.end,
    a.strides,
    a.beginMask,
    a.endMask,
    a.ellipsisMask,
    a.newAxisMask,
    a.shrinkAxisMask,
  );
  if (info.isIdentity) return recording.reshape(x, info.finalShape);
  const shape = tf.slice_util.computeOutShape(info.begin, info.end, info.strides);
  const ends = info.end.map((end, axis) => (dimAt(info.strides, axis) < 0 && end < 0 ? BEFORE_FIRST : end));
  return recording.reshape(strided(recording, x, info.begin, ends, shape, info.strides), info.finalShape);
};

const reverse: Kernel = (recording, inputs, attrs) => {
  const x = required(inputs, 'x');
  const axes = tf.util.parseAxisParam((attrs as tf.ReverseAttrs).dims, [...x.shape]);
  const { graph } = recording;
  const bounds = [axes.map(() => -1), axes.map(() => BEFORE_FIRST), axes, axes.map(() => -1)];
  if (axes.length === 0) return x;
  return recording.op('Slice', [x], x.dtype, x.shape, {}, ...bounds.map((values) => graph.int64(...values)));
};

const pad: Kernel = (recording, inputs, attrs) => {
  const x = required(inputs, 'x');
  const { paddings, constantValue } = attrs as tf.PadV2Attrs;
  const shape = x.shape.map((dim, axis) => dim + (paddings[axis]?.[0] ?? 0) + (paddings[axis]?.[1] ?? 0));
  if (sameShape(shape, x.shape)) return x;
  const widths = recording.graph.int64(...paddings.map(([before]) => before), ...paddings.map(([, after]) => after));
  const value = recording.full(recording.scalar(constantValue, x.dtype));
  return recording.op('Pad', [x], x.dtype, shape, {}, widths, value);
};

/** Repeating axes of size 1 is broadcasting, which needs no operator until the values are needed in full. */
const tile: Kernel = (recording, inputs, attrs) => {
  const x = required(inputs, 'x');
  const { reps } = attrs as tf.TileAttrs;
  const shape = x.shape.map((dim, axis) => dim * dimAt(reps, axis));
  if (sameShape(shape, x.shape)) return x;
  if (x.shape.every((dim, axis) => dim === 1 || reps[axis] === 1)) return broadcast(recording, x, shape);
  return recording.op('Tile', [x], x.dtype, shape, {}, recording.graph.int64(...reps));
};

const broadcastTo: Kernel = (recording, inputs, attrs) =>
  broadcast(recording, required(inputs, 'x'), (attrs as tf.BroadCastToAttrs).shape);

function broadcast(recording: Recording, x: Recorded, shape: readonly number[]): Recorded {
  if (x.uniform !== null) return recording.uniform(x.uniform, x.dtype, shape);
  const { value, dims } = recording.compact(x);
  return recording.symbolic(value, x.dtype, shape, dims);
}

export const shapeKernels: Readonly<Record<string, Kernel>> = {
  BroadcastTo: broadcastTo,
  Concat: concat,
  ExpandDims: expandDims,
  Pack: pack,
  PadV2: pad,
  Reshape: reshape,
  Reverse: reverse,
  Slice: slice,
  SplitV: splitV,
  StridedSlice: stridedSlice,
  Tile: tile,
  Transpose: transpose,
  Unpack: unpack,
};
