import * as tf from '@tensorflow/tfjs';
import type { ElementType } from './host-tensor';
import { type Recorded, Recording, type RowSum, sameShape } from './recording';
import { offerCpuKernels, RECORDING_BACKEND, type RecordingBackend, recordingBackend } from './recording-backend';

/** A symbolic input of a graph. */
export interface InputSignature {
  readonly dtype: ElementType;
  readonly shape: readonly number[];
}

/** A recorded graph, not yet compiled. */
export interface RecordedGraph {
  readonly model: Uint8Array;
  readonly outputs: Readonly<Record<string, InputSignature>>;
  /** Of outputs that are to be added up outside, by name. The graph gives their dense part under the output's own name. */
  readonly sums: Readonly<Record<string, OutputSum>>;
  /** Nodes recorded, with those that no output needs. */
  readonly nodes: number;
}

/** What is left to add up of an output. */
export interface OutputSum {
  /** False: nothing but the rows, and the graph has no output of that name. */
  readonly hasDense: boolean;
  /** Names of the graph's outputs: values `[count, …]`, and the row that each is added to, `[count]` int32. */
  readonly rows: readonly { readonly values: string; readonly ids: string }[];
}

/** Names of graph inputs and outputs: one tensor may be an input and an output under the same name. */
export const inputName = (name: string): string => `in:${name}`;
export const outputName = (name: string): string => `out:${name}`;

/**
 * Runs `fn` once on symbolic inputs and returns the graph of what it did. Synchronous; the backend that was active is
 * active again afterwards, also when `fn` throws, and no tensor is left behind.
 * @param isForCpu operators may be used that only onnxruntime's CPU provider has, see `Recording`
 * @throws Error for a kernel that cannot be recorded, for reading a recorded tensor, and whatever `fn` throws
 */
export function record(
  name: string,
  fn: (inputs: Record<string, tf.Tensor>) => Record<string, tf.Tensor>,
  signature: Readonly<Record<string, InputSignature>>,
  isForCpu = false,
): RecordedGraph {
  const active = recordingBackend();
  if (active.recording !== null) throw new Error(`"${name}" was called while another function is being recorded`);
  const previous = tf.getBackend();
  const variables = new Set(Object.keys(tf.engine().registeredVariables));
  const recording = new Recording(name, isForCpu);
  active.recording = recording;
  offerCpuKernels(isForCpu);
  activate(RECORDING_BACKEND);
  try {
    let graph: RecordedGraph | null = null;
    tf.tidy(() => {
      graph = trace(active, recording, fn, signature);
    });
    return graph as unknown as RecordedGraph;
  } catch (error) {
    throw explained(error);
  } finally {
    for (const [key, variable] of Object.entries(tf.engine().registeredVariables)) {
      if (!variables.has(key)) variable.dispose();
    }
    active.close();
    activate(previous);
  }
}

function trace(
  active: RecordingBackend,
  recording: Recording,
  fn: (inputs: Record<string, tf.Tensor>) => Record<string, tf.Tensor>,
  signature: Readonly<Record<string, InputSignature>>,
): RecordedGraph {
  const inputs: Record<string, tf.Tensor> = {};
  for (const [name, { dtype, shape }] of Object.entries(signature)) {
    const value = recording.graph.input(inputName(name), dtype, shape);
    inputs[name] = tf.engine().makeTensorFromTensorInfo(active.add(recording.symbolic(value, dtype, shape)), active);
  }
  const results: unknown = fn(inputs);
  if (typeof results !== 'object' || results === null || results instanceof Promise) {
    throw new TypeError('the recorded function must return an object of tensors, synchronously');
  }
  const outputs: Record<string, InputSignature> = {};
  const sums: Record<string, OutputSum> = {};
  for (const [name, result] of Object.entries(results as Record<string, unknown>)) {
    if (!(result instanceof tf.Tensor))
      throw new TypeError(`output "${name}" of the recorded function is not a tensor`);
    const tensor = active.recorded(result);
    // Reshape and cast may share a value's record; the tensor itself says what it is.
    outputs[name] = { dtype: tensor.dtype, shape: result.shape };
    if (tensor.rowSum && sameShape(tensor.shape, result.shape)) sums[name] = outputSum(recording, name, tensor.rowSum);
    else give(recording, outputName(name), tensor, result.shape);
  }
  return { model: recording.graph.toBytes(), outputs, sums, nodes: recording.graph.nodeCount };
}

function outputSum(recording: Recording, name: string, { dense, rows }: RowSum): OutputSum {
  if (dense) give(recording, outputName(name), dense);
  const named = rows.map(({ values, ids }, i) => {
    const names = { values: `rows:${name}:${i}`, ids: `ids:${name}:${i}` };
    give(recording, names.values, values);
    give(recording, names.ids, ids);
    return names;
  });
  return { hasDense: dense !== null, rows: named };
}

function give(recording: Recording, name: string, tensor: Recorded, shape = tensor.shape): void {
  recording.graph.output(name, recording.full(tensor), tensor.dtype, shape);
}

const MISSING_KERNEL = new RegExp(`^Kernel '(\\w+)' not registered for backend '${RECORDING_BACKEND}'`);

/** tf.setBackend is asynchronous only for a backend that is not made yet; both sides of a recording are. */
function activate(name: string): void {
  void tf.setBackend(name);
  if (tf.getBackend() !== name) throw new Error(`tfjs did not switch to the ${name} backend`);
}

function explained(error: unknown): unknown {
  const missing = error instanceof Error ? MISSING_KERNEL.exec(error.message) : null;
  if (missing === null) return error;
  return new Error(
    `kernel ${missing[1]} cannot be recorded as ONNX; compose it from other ops (tf.customGrad gives it a gradient), ` +
      'compute it outside and pass it as an input, or add it to libs/tfjs-onnx/src/kernels',
    { cause: error },
  );
}
