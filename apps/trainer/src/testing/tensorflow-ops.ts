import * as tf from '@tensorflow/tfjs';
import type { MathBackendCPU } from '@tensorflow/tfjs-backend-cpu';
import type { NamedAttrMap, TensorInfo } from '@tensorflow/tfjs';

export interface StandInTensor {
  readonly shape: readonly number[];
  readonly dtype: 'float32' | 'int32' | 'bool';
  readonly values: Float32Array | Int32Array | Uint8Array;
}

interface TensorFlowOp {
  /** Attributes of TensorFlow's definition (`tensorflow/core/ops`), all of them; those it can infer may be left out. */
  readonly attributes: Readonly<Record<string, 'int' | 'bool' | 'type'>>;
  /** Type attribute → the input that it is the dtype of. */
  readonly typeOf?: Readonly<Record<string, number>>;
  run(inputs: readonly StandInTensor[], attributes: Readonly<Record<string, unknown>>): StandInTensor[];
}

/** The operations of a training step. */
export const TENSORFLOW_OPS: Readonly<Record<string, TensorFlowOp>> = {
  ...elementwise(1, {
    ...{ Exp: 'Exp', Expm1: 'Expm1', Log: 'Log', Neg: 'Neg', Floor: 'Floor', Sqrt: 'Sqrt', Rsqrt: 'Rsqrt' },
    ...{ Sigmoid: 'Sigmoid', Square: 'Square', ZerosLike: 'ZerosLike', Identity: 'Identity' },
  }),
  ...elementwise(2, {
    ...{ Add: 'Add', AddV2: 'Add', Sub: 'Sub', Mul: 'Multiply', RealDiv: 'RealDiv', Pow: 'Pow' },
    ...{ Maximum: 'Maximum', Minimum: 'Minimum', Equal: 'Equal', NotEqual: 'NotEqual' },
    ...{ Less: 'Less', LessEqual: 'LessEqual', Greater: 'Greater', GreaterEqual: 'GreaterEqual' },
  }),
  LogicalAnd: { attributes: {}, run: ([a, b]) => kernel('LogicalAnd', { a, b }) },
  LogicalNot: { attributes: {}, run: ([x]) => kernel('LogicalNot', { x }) },
  AddN: {
    attributes: { N: 'int', T: 'type' },
    typeOf: { T: 0 },
    run: (inputs, { N }) => {
      if (inputs.length !== N) throw new Error(`AddN of ${inputs.length} inputs, N ${String(N)}`);
      return kernel('AddN', Object.fromEntries(inputs.map((input, i) => [`${i}`, input])));
    },
  },
  BatchMatMulV2: {
    attributes: { T: 'type', adj_x: 'bool', adj_y: 'bool', grad_x: 'bool', grad_y: 'bool' },
    typeOf: { T: 0 },
    run: ([a, b], { adj_x: transposeA, adj_y: transposeB }) =>
      kernel('BatchMatMul', { a, b }, { transposeA, transposeB } as NamedAttrMap),
  },
  Cast: {
    attributes: { SrcT: 'type', DstT: 'type', Truncate: 'bool' },
    typeOf: { SrcT: 0 },
    run: ([x], { DstT }) => kernel('Cast', { x }, { dtype: DstT === 1 ? 'float32' : DstT === 3 ? 'int32' : 'bool' }),
  },
  ClipByValue: {
    attributes: { T: 'type' },
    typeOf: { T: 0 },
    run: ([x, low, high]) =>
      kernel('ClipByValue', { x }, { clipValueMin: low!.values[0]!, clipValueMax: high!.values[0]! }),
  },
  ConcatV2: {
    attributes: { N: 'int', T: 'type', Tidx: 'type' },
    typeOf: { T: 0 },
    run: (inputs, { N }) => {
      if (inputs.length !== (N as number) + 1) throw new Error(`ConcatV2 of ${inputs.length} inputs, N ${String(N)}`);
      const parts = inputs.slice(0, -1).map((part, i) => [`${i}`, part] as const);
      return kernel('Concat', Object.fromEntries(parts), { axis: inputs.at(-1)!.values[0]! });
    },
  },
  ExpandDims: {
    attributes: { T: 'type', Tdim: 'type' },
    run: ([input, dim]) => kernel('ExpandDims', { input }, { dim: dim!.values[0]! }),
  },
  GatherV2: {
    attributes: { batch_dims: 'int', Tparams: 'type', Tindices: 'type', Taxis: 'type' },
    typeOf: { Tparams: 0, Tindices: 1, Taxis: 2 },
    run: ([x, indices, axis], { batch_dims: batchDims }) =>
      kernel('GatherV2', { x, indices }, { axis: axis!.values[0]!, batchDims: batchDims as number }),
  },
  Max: reduction('Max'),
  Mean: reduction('Mean'),
  Sum: reduction('Sum'),
  OneHot: {
    attributes: { axis: 'int', T: 'type', TI: 'type' },
    typeOf: { T: 2, TI: 0 },
    run: ([indices, depth, on, off]) =>
      kernel(
        'OneHot',
        { indices },
        { depth: depth!.values[0]!, onValue: on!.values[0]!, offValue: off!.values[0]!, dtype: on!.dtype },
      ),
  },
  PadV2: {
    attributes: { T: 'type', Tpaddings: 'type' },
    typeOf: { T: 0, Tpaddings: 1 },
    run: ([x, paddings, constant]) => {
      const pairs = x!.shape.map((_, d) => [...paddings!.values.slice(2 * d, 2 * d + 2)]);
      const attrs = { paddings: pairs, constantValue: constant!.values[0]! };
      return kernel('PadV2', { x }, attrs as unknown as NamedAttrMap);
    },
  },
  Reshape: {
    attributes: { T: 'type', Tshape: 'type' },
    typeOf: { T: 0, Tshape: 1 },
    run: ([x, shape]) => kernel('Reshape', { x }, { shape: [...shape!.values] }),
  },
  Select: { attributes: { T: 'type' }, typeOf: { T: 1 }, run: select },
  SelectV2: { attributes: { T: 'type' }, typeOf: { T: 1 }, run: select },
  Slice: {
    attributes: { T: 'type', Index: 'type' },
    typeOf: { T: 0, Index: 1 },
    run: ([x, begin, size]) => kernel('Slice', { x }, { begin: [...begin!.values], size: [...size!.values] }),
  },
  Softmax: {
    attributes: { T: 'type' },
    typeOf: { T: 0 },
    run: ([logits]) => kernel('Softmax', { logits }, { dim: -1 }),
  },
  SplitV: {
    attributes: { num_split: 'int', T: 'type', Tlen: 'type' },
    typeOf: { T: 0, Tlen: 1 },
    run: ([x, sizes, axis]) => kernel('SplitV', { x }, { numOrSizeSplits: [...sizes!.values], axis: axis!.values[0]! }),
  },
  Tile: {
    attributes: { T: 'type', Tmultiples: 'type' },
    typeOf: { T: 0, Tmultiples: 1 },
    run: ([x, reps]) => kernel('Tile', { x }, { reps: [...reps!.values] }),
  },
  Transpose: {
    attributes: { T: 'type', Tperm: 'type' },
    typeOf: { T: 0, Tperm: 1 },
    run: ([x, perm]) => kernel('Transpose', { x }, { perm: [...perm!.values] }),
  },
  UnsortedSegmentSum: {
    attributes: { T: 'type', Tindices: 'type', Tnumsegments: 'type' },
    typeOf: { T: 0, Tindices: 1, Tnumsegments: 2 },
    run: ([x, segmentIds, count]) =>
      kernel('UnsortedSegmentSum', { x, segmentIds }, { numSegments: count!.values[0]! }),
  },
};

function elementwise(inputs: 1 | 2, kernels: Readonly<Record<string, string>>): Record<string, TensorFlowOp> {
  return Object.fromEntries(
    Object.entries(kernels).map(([name, kernelName]) => [
      name,
      {
        attributes: { T: 'type' as const },
        typeOf: { T: 0 },
        run: ([a, b]: readonly StandInTensor[]) => kernel(kernelName, inputs === 1 ? { x: a } : { a, b }),
      },
    ]),
  );
}

function reduction(kernelName: string): TensorFlowOp {
  return {
    attributes: { keep_dims: 'bool', T: 'type', Tidx: 'type' },
    typeOf: { T: 0, Tidx: 1 },
    run: ([x, axes], { keep_dims: keepDims }) => {
      const axis = tf.util.parseAxisParam([...axes!.values], [...x!.shape]);
      const [result] = kernel(kernelName, { x }, { axis, reductionIndices: axis, keepDims: false }) as [StandInTensor];
      const kept = x!.shape.map((dim, d) => (axis.includes(d) ? 1 : dim));
      return [keepDims ? { ...result, shape: kept } : result];
    },
  };
}

function select([condition, t, e]: readonly StandInTensor[]): StandInTensor[] {
  return kernel('Select', { condition, t, e });
}

/** Runs a kernel of tfjs' cpu backend on plain values. */
function kernel(
  name: string,
  inputs: Readonly<Record<string, StandInTensor | undefined>>,
  attrs: NamedAttrMap = {},
): StandInTensor[] {
  const backend = tf.findBackend('cpu') as unknown as MathBackendCPU;
  const named = Object.fromEntries(
    Object.entries(inputs).map(([key, tensor]) => {
      const { shape, dtype, values } = tensor!;
      return [key, backend.makeTensorInfo([...shape], dtype, values)];
    }),
  );
  const passed = name === 'Concat' || name === 'AddN' ? Object.values(named) : named;
  const result = tf.getKernel(name, 'cpu')!.kernelFunc({ inputs: passed as typeof named, backend, attrs });
  const outputs = (Array.isArray(result) ? result : [result]) as TensorInfo[];
  const plain = outputs.map(({ dataId, shape, dtype }) => ({
    shape,
    dtype: dtype as StandInTensor['dtype'],
    values: (backend.data.get(dataId).values as StandInTensor['values']).slice(),
  }));
  for (const { dataId } of [...outputs, ...Object.values(named)]) backend.disposeData(dataId);
  return plain;
}
