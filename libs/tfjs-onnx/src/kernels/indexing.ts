import * as tf from '@tensorflow/tfjs';
import { type ElementType, sizeOf } from '../host-tensor';
import type { OnnxValue } from '../onnx-graph';
import { dimAt, type Recorded, type Recording } from '../recording';
import { assertType, type Kernel, required } from './kernel';

/**
 * Negative indices mean "from the end" in ONNX and are out of range in tfjs: they become `outside`, which every operator
 * treats as out of range (Gather fails, OneHot is off).
 */
function withoutNegatives(recording: Recording, indices: Recorded, outside: number): Recorded {
  assertType('an index', indices, 'int32');
  if (indices.host?.().every((index) => index >= 0)) return indices;
  const isNegative = recording.elementwise('Less', [indices, recording.scalar(0, 'int32')], 'bool');
  return recording.select(isNegative, recording.scalar(outside, 'int32'), indices);
}

/** Rows of x by index. An index outside 0..size−1 fails the run. */
const gather: Kernel = (recording, inputs, attrs) => {
  const x = required(inputs, 'x');
  const { axis, batchDims } = attrs as tf.GatherV2Attrs;
  const [along] = tf.util.parseAxisParam(axis, [...x.shape]) as [number];
  const size = dimAt(x.shape, along);
  const indices = withoutNegatives(recording, required(inputs, 'indices'), size);
  if (batchDims) return gatherBatched(recording, x, indices, along, batchDims);
  const shape = [...x.shape.slice(0, along), ...indices.shape, ...x.shape.slice(along + 1)];
  const value = recording.graph.op('Gather', [recording.full(x), recording.full(indices)], { axis: along });
  return recording.symbolic(value, x.dtype, shape);
};

/** The batches laid end to end on one axis, gathered with indices moved by the batch's start. */
function gatherBatched(
  recording: Recording,
  x: Recorded,
  indices: Recorded,
  axis: number,
  batchDims: number,
): Recorded {
  const info = tf.backend_util.segment_util.collectGatherOpShapeInfo(
    { shape: [...x.shape] } as tf.TensorInfo,
    { shape: [...indices.shape] } as tf.TensorInfo,
    axis,
    batchDims,
  );
  const { batchSize, outerSize, dimSize, sliceSize } = info;
  const perBatch = sizeOf(indices.shape) / batchSize;
  const rows = recording.transpose(recording.reshape(x, [batchSize, outerSize, dimSize, sliceSize]), [0, 2, 1, 3]);
  const flat = recording.reshape(rows, [batchSize * dimSize, outerSize, sliceSize]);
  // An index past its batch would read the next batch, so it is moved past the end of all.
  const isPast = recording.elementwise('GreaterOrEqual', [indices, recording.scalar(dimSize, 'int32')], 'bool');
  const outside = recording.scalar(batchSize * dimSize, 'int32');
  const local = recording.reshape(recording.select(isPast, outside, indices), [batchSize, perBatch]);
  const starts = Int32Array.from({ length: batchSize }, (_, batch) => batch * dimSize);
  const moved = recording.elementwise('Add', [local, recording.constant(starts, 'int32', [batchSize, 1])], 'int32');
  const value = recording.graph.op('Gather', [recording.full(flat), recording.full(moved)], { axis: 0 });
  const gathered = recording.symbolic(value, x.dtype, [batchSize, perBatch, outerSize, sliceSize]);
  return recording.reshape(recording.transpose(gathered, [0, 2, 1, 3]), info.outputShape);
}

const oneHot: Kernel = (recording, inputs, attrs) => {
  const { dtype, depth, onValue, offValue } = attrs as tf.OneHotAttrs;
  const indices = withoutNegatives(recording, required(inputs, 'indices'), depth);
  // ONNX's OneHot takes no scalar.
  const list = indices.shape.length === 0 ? recording.reshape(indices, [1]) : indices;
  const value = oneHotValue(recording, recording.full(list), depth, -1, [offValue, onValue]);
  const rows = recording.symbolic(value, 'float32', [...list.shape, depth]);
  const asFloat = recording.reshape(rows, [...indices.shape, depth]);
  const result = recording.cast(asFloat, dtype as ElementType);
  if (result !== asFloat) result.asFloat = asFloat;
  return result;
};

function oneHotValue(
  recording: Recording,
  indices: OnnxValue,
  depth: number,
  axis: number,
  values: readonly [number, number] = [0, 1],
): OnnxValue {
  const { graph } = recording;
  const depthValue = graph.constant(Int32Array.of(depth), []);
  return graph.op('OneHot', [indices, depthValue, graph.constant(Float32Array.from(values))], { axis });
}

/** `rowsSummed`, left to be made outside of a graph for the CPU where it only leaves it. */
const unsortedSegmentSum: Kernel = (recording, inputs, attrs) => {
  const x = required(inputs, 'x');
  const segmentIds = required(inputs, 'segmentIds');
  const { numSegments } = attrs as tf.UnsortedSegmentSumAttrs;
  assertType('UnsortedSegmentSum', x, 'float32');
  if (segmentIds.shape.length !== 1) throw new RangeError('segment ids must have one dimension');
  const make = (): Recorded => rowsSummed(recording, x, segmentIds, numSegments);
  const shape = [numSegments, ...x.shape.slice(1)];
  if (!recording.isForCpu || sizeOf(shape) === 0) return make();
  return recording.summed(
    { dense: null, rows: [{ values: x, ids: segmentIds }], make: () => recording.full(make()) },
    shape,
  );
};

/**
 * Sum of the rows of x that have the same segment id: the gradient of gather. Rows with an id outside the segments are
 * dropped: they are added to one more segment, which is cut off. ScatterND(add) would be the obvious operator, but
 * onnxruntime's is wrong on several threads (github.com/microsoft/onnxruntime/issues/18048). ScatterElements adds one
 * element after the other, in their order, so that the bits are the same at every run.
 */
function rowsSummed(recording: Recording, x: Recorded, segmentIds: Recorded, numSegments: number): Recorded {
  const { graph } = recording;
  const count = dimAt(segmentIds.shape, 0);
  const width = sizeOf(x.shape.slice(1));
  const rows = recording.full(recording.reshape(x, [count, width]));
  const isBeyond = recording.elementwise(
    'GreaterOrEqual',
    [segmentIds, recording.scalar(numSegments, 'int32')],
    'bool',
  );
  const outside = recording.scalar(numSegments, 'int32');
  const ids = withoutNegatives(recording, recording.select(isBeyond, outside, segmentIds), numSegments);
  const places = graph.op('Expand', [recording.full(recording.reshape(ids, [count, 1])), graph.int64(count, width)]);
  const zeros = graph.op('ConstantOfShape', [graph.int64(numSegments + 1, width)]);
  const sums = graph.op('ScatterElements', [zeros, places, rows], { axis: 0, reduction: 'add' });
  const kept = graph.op('Slice', [sums, graph.int64(0), graph.int64(numSegments), graph.int64(0)]);
  const shape = [numSegments, ...x.shape.slice(1)];
  return recording.reshape(recording.symbolic(kept, 'float32', [numSegments, width]), shape);
}

/** A condition of one dimension chooses whole rows of values of more dimensions. */
const select: Kernel = (recording, inputs) => {
  const condition = required(inputs, 'condition');
  const t = required(inputs, 't');
  const e = required(inputs, 'e');
  const dtype = tf.upcastType(t.dtype, e.dtype) as ElementType;
  const rows = condition.shape.length === 1 && t.shape.length > 1;
  const aligned = rows
    ? recording.reshape(condition, [...condition.shape, ...t.shape.slice(1).map(() => 1)])
    : condition;
  return recording.select(recording.cast(aligned, 'bool'), recording.cast(t, dtype), recording.cast(e, dtype));
};

export const indexingKernels: Readonly<Record<string, Kernel>> = {
  GatherV2: gather,
  OneHot: oneHot,
  Select: select,
  UnsortedSegmentSum: unsortedSegmentSum,
};
