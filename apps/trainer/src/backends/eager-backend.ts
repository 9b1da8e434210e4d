import type { HostTensor } from '@hindcast/language-model';
import * as tf from '@tensorflow/tfjs';
import type { Computation, ComputeBackend, HostTensors, TensorFunction } from '../core/compute-backend';

/** Runs tensor functions op by op on the TensorFlow.js backend that is set. Its fixed inputs are uploaded once. */
export class EagerBackend implements ComputeBackend {
  private readonly uploaded = new Map<HostTensor, tf.Tensor>();

  constructor(readonly name: string) {}

  compile(_name: string, fn: TensorFunction, fixed: HostTensors): Computation {
    return async (inputs) => {
      const outputs = tf.tidy(() => {
        const tensors: Record<string, tf.Tensor> = {};
        for (const [name, tensor] of Object.entries(fixed)) tensors[name] = this.upload(tensor);
        for (const [name, tensor] of Object.entries(inputs)) tensors[name] = tensorOf(tensor);
        // What the function kept itself must be disposed of below; what it did not must survive the tidy.
        return Object.entries(fn(tensors)).map(([name, tensor]) => [name, tf.keep(tensor)] as const);
      });
      const results: Record<string, HostTensor> = {};
      for (const [name, tensor] of outputs) {
        results[name] = { dtype: 'float32', shape: tensor.shape, data: Float32Array.from(await tensor.data()) };
        tensor.dispose();
      }
      return results;
    };
  }

  dispose(): Promise<void> {
    for (const tensor of this.uploaded.values()) tensor.dispose();
    this.uploaded.clear();
    return Promise.resolve();
  }

  private upload(tensor: HostTensor): tf.Tensor {
    let uploaded = this.uploaded.get(tensor);
    if (!uploaded) {
      uploaded = tf.keep(tensorOf(tensor));
      this.uploaded.set(tensor, uploaded);
    }
    return uploaded;
  }
}

function tensorOf({ dtype, shape, data }: HostTensor): tf.Tensor {
  return tf.tensor(data, [...shape], dtype);
}
