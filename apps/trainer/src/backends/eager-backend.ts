import type { HostTensor } from '@hindcast/language-model';
import * as tf from '@tensorflow/tfjs';
import type { Computation, ComputeBackend, HostTensors, TensorFunction } from '../core/compute-backend';

/** Runs tensor functions op by op on one of TensorFlow.js' own backends. Its fixed inputs are uploaded once. */
export class EagerBackend implements ComputeBackend {
  private readonly uploaded = new Map<HostTensor, tf.Tensor>();

  constructor(
    readonly name: string,
    /** Name under which the backend is registered, and made already. */
    private readonly tfjsName: string,
  ) {}

  compile(_name: string, fn: TensorFunction, fixed: HostTensors): Computation {
    return async (inputs) => {
      this.activate();
      const outputs = tf.tidy(() => {
        const tensors: Record<string, tf.Tensor> = {};
        for (const [name, tensor] of Object.entries(fixed)) tensors[name] = this.upload(tensor);
        for (const [name, tensor] of Object.entries(inputs)) tensors[name] = tensorOf(tensor);
        // What the function kept itself must be disposed of below; what it did not must survive the tidy.
        return Object.entries(fn(tensors)).map(([name, tensor]) => [name, tf.keep(tensor)] as const);
      });
      try {
        const results: Record<string, HostTensor> = {};
        for (const [name, tensor] of outputs) {
          results[name] = { dtype: 'float32', shape: tensor.shape, data: await this.read(tensor) };
        }
        return results;
      } finally {
        for (const [, tensor] of outputs) tensor.dispose();
      }
    };
  }

  dispose(): Promise<void> {
    for (const tensor of this.uploaded.values()) tensor.dispose();
    this.uploaded.clear();
    return Promise.resolve();
  }

  /** tf.setBackend is asynchronous only for a backend that is not made yet. */
  private activate(): void {
    if (tf.getBackend() !== this.tfjsName) void tf.setBackend(this.tfjsName);
    if (tf.getBackend() !== this.tfjsName) throw new Error(`TensorFlow.js does not switch to ${this.tfjsName}`);
  }

  private async read(tensor: tf.Tensor): Promise<Float32Array> {
    const data = (await tensor.data()) as Float32Array;
    // The cpu backend gives its own memory away; the others copy.
    return this.tfjsName === 'cpu' ? Float32Array.from(data) : data;
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
