import type { HostTensor } from '@hindcast/language-model';
import type * as tf from '@tensorflow/tfjs';

export type HostTensors = Readonly<Record<string, HostTensor>>;
/** Plain TensorFlow.js ops from named tensors to named tensors. Its outputs are its own: kept, never one of the inputs. */
export type TensorFunction = (inputs: Readonly<Record<string, tf.Tensor>>) => Record<string, tf.Tensor>;
/**
 * Runs a `TensorFunction` on host memory.
 *
 * @param into arrays that outputs of these names may be written to; a backend that cannot gives arrays of its own
 */
export type Computation = (inputs: HostTensors, into?: Readonly<Record<string, Float32Array>>) => Promise<HostTensors>;

/** Where tensor functions run: recorded as ONNX graphs, or op by op on one of TensorFlow.js' own backends. */
export interface ComputeBackend {
  readonly name: string;
  /** @param fixed inputs that are the same at every run, such as the weights of the base model */
  compile(name: string, fn: TensorFunction, fixed: HostTensors): Computation;
  dispose(): Promise<void>;
}
