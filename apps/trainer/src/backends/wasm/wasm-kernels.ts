import * as tf from '@tensorflow/tfjs';
import type { KernelFunc, NamedAttrMap, NamedTensorInfoMap, TensorInfo, TypedArray } from '@tensorflow/tfjs';
import { batchMatMul, type MatMulOptions } from './batch-mat-mul';
import { shared, WasmHeap } from './wasm-heap';

type Kernel = (heap: WasmHeap, inputs: Record<string, TensorInfo>, attrs: Record<string, unknown>) => TensorInfo;

const KERNELS: Readonly<Record<string, Kernel>> = {
  BatchMatMul: (heap, { a, b }, attrs) => batchMatMul(heap, a!, b!, attrs as unknown as MatMulOptions),
  _FusedMatMul: fusedMatMul,
  UnsortedSegmentSum: unsortedSegmentSum,
  // The backend's own kernel copies the values.
  Identity: (heap, { x }) => shared(heap, x!),
  Cast: cast,
  OneHot: oneHot,
};

let replaced: Map<string, tf.KernelConfig | undefined> | null = null;

/** Puts kernels of our own in place of those of the wasm backend that are slow, wrong or missing. May be called again. */
export function installWasmKernels(): void {
  if (replaced) return;
  replaced = new Map();
  for (const [kernelName, kernel] of Object.entries(KERNELS)) {
    replaced.set(kernelName, tf.getKernel(kernelName, 'wasm'));
    const kernelFunc = ({ inputs, backend, attrs }: Parameters<KernelFunc>[0]) =>
      kernel(WasmHeap.of(backend), inputs as Record<string, TensorInfo>, (attrs ?? {}) as Record<string, unknown>);
    put({ kernelName, backendName: 'wasm', kernelFunc: kernelFunc as KernelFunc });
  }
}

/** Puts the backend's own kernels back, for comparison. */
export function uninstallWasmKernels(): void {
  for (const [kernelName, config] of replaced ?? []) {
    tf.unregisterKernel(kernelName, 'wasm');
    if (!config) continue;
    tf.registerKernel(config);
    // It was taken away before the backend was made, which sets up what it finds.
    config.setupFunc?.(tf.findBackend('wasm'));
  }
  replaced = null;
}

function put(config: tf.KernelConfig): void {
  if (tf.getKernel(config.kernelName, 'wasm')) tf.unregisterKernel(config.kernelName, 'wasm');
  tf.registerKernel(config);
}

/** Product, bias and activation one after the other: the backend's own kernel adds the bias once per block of K. */
function fusedMatMul(heap: WasmHeap, inputs: Record<string, TensorInfo>, attrs: Record<string, unknown>): TensorInfo {
  const { a, b, bias, preluActivationWeights: alpha } = inputs;
  let result = batchMatMul(heap, a!, b!, attrs as unknown as MatMulOptions);
  const replace = (kernelName: string, more: NamedTensorInfoMap, name: string, attributes: NamedAttrMap = {}): void => {
    const { kernelFunc } = tf.getKernel(kernelName, 'wasm')!;
    const next = kernelFunc({ inputs: { [name]: result, ...more }, backend: heap.backend, attrs: attributes });
    heap.backend.disposeData(result.dataId);
    result = next as TensorInfo;
  };
  if (bias) replace('Add', { b: bias }, 'a');
  const activation = (attrs['activation'] ?? 'linear') as string;
  if (activation === 'prelu') replace('Prelu', { alpha: alpha! }, 'x');
  else if (activation === 'leakyrelu')
    replace('LeakyRelu', {}, 'x', { alpha: (attrs['leakyreluAlpha'] as number | undefined) ?? 0.2 });
  else if (activation !== 'linear') replace(activation[0]!.toUpperCase() + activation.slice(1), {}, 'x');
  return result;
}

/** Rows of `x` summed by their segment, `[S, …] → [numSegments, …]`; the backend has no such kernel. Ids outside are left out. */
function unsortedSegmentSum(
  heap: WasmHeap,
  { x, segmentIds }: Record<string, TensorInfo>,
  { numSegments }: Record<string, unknown>,
): TensorInfo {
  const rowShape = x!.shape.slice(1);
  const row = tf.util.sizeFromShape(rowShape);
  const out = heap.backend.makeOutput([numSegments as number, ...rowShape], x!.dtype);
  const [sums, rows, ids] = [out, x!, segmentIds!].map((tensor) => heap.backend.typedArrayFromHeap(tensor)) as [
    TypedArray,
    TypedArray,
    TypedArray,
  ];
  sums.fill(0);
  for (let i = 0; i < ids.length; i++) {
    const segment = ids[i]!;
    if (segment < 0 || segment >= (numSegments as number)) continue;
    const [to, from] = [segment * row, i * row];
    for (let j = 0; j < row; j++) sums[to + j]! += rows[from + j]!;
  }
  return out;
}

/** The backend's own kernel copies where nothing changes, and puts numbers into a bool as they are, modulo 256. */
function cast(heap: WasmHeap, { x }: Record<string, TensorInfo>, { dtype }: Record<string, unknown>): TensorInfo {
  if (x!.dtype === dtype) return shared(heap, x!);
  const out = heap.backend.makeOutput(x!.shape, dtype as tf.DataType);
  const [to, from] = [out, x!].map((tensor) => heap.backend.typedArrayFromHeap(tensor)) as [TypedArray, TypedArray];
  if (dtype === 'bool') for (let i = 0; i < from.length; i++) to[i] = from[i] === 0 ? 0 : 1;
  else to.set(from);
  return out;
}

/** The backend's own kernel writes int32 whatever is asked for. */
function oneHot(heap: WasmHeap, { indices }: Record<string, TensorInfo>, attrs: Record<string, unknown>): TensorInfo {
  const { dtype, depth, onValue, offValue } = attrs as {
    dtype: tf.DataType;
    depth: number;
    onValue: number;
    offValue: number;
  };
  const out = heap.backend.makeOutput([...indices!.shape, depth], dtype);
  const [to, ids] = [out, indices!].map((tensor) => heap.backend.typedArrayFromHeap(tensor)) as [
    TypedArray,
    TypedArray,
  ];
  to.fill(offValue);
  for (let i = 0; i < ids.length; i++) if (ids[i]! >= 0 && ids[i]! < depth) to[i * depth + ids[i]!] = onValue;
  return out;
}
