import * as tf from '@tensorflow/tfjs';
import type { ElementType } from './host-tensor';
import { Recording } from './recording';
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
  /** Nodes recorded, with those that no output needs. */
  readonly nodes: number;
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
  for (const [name, result] of Object.entries(results as Record<string, unknown>)) {
    if (!(result instanceof tf.Tensor))
      throw new TypeError(`output "${name}" of the recorded function is not a tensor`);
    const tensor = active.recorded(result);
    // Reshape and cast may share a value's record; the tensor itself says what it is.
    outputs[name] = { dtype: tensor.dtype, shape: result.shape };
    recording.graph.output(outputName(name), recording.full(tensor), tensor.dtype, result.shape);
  }
  return { model: recording.graph.toBytes(), outputs, nodes: recording.graph.nodeCount };
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
