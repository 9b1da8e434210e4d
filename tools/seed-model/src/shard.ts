import type { LlamaConfig, Weights } from '@hindcast/language-model';
import { tokenLogProbs } from '@hindcast/language-model';
import { CompiledFunction } from '@hindcast/tfjs-onnx';
import * as tf from '@tensorflow/tfjs';
import type { Batch } from './batches';
import { namedTensors, type ParameterSlice } from './parameters';

export interface ShardStep {
  /** Mean negative log-probability of the learned tokens, in nats. */
  readonly loss: number;
  /** Tokens that the batch held, without padding. */
  readonly tokens: number;
}

/** One share of the training data and the compiled step that turns a batch of it into a gradient. */
export class Shard {
  private readonly compiled: CompiledFunction;

  constructor(
    config: LlamaConfig,
    private readonly slices: readonly ParameterSlice[],
    private readonly batches: Iterator<Batch, never>,
    threads: number,
  ) {
    const names = slices.map(({ name }) => name);
    this.compiled = new CompiledFunction((inputs) => lossAndGradients(config, names, inputs), { threads });
  }

  /** Takes the next batch and writes the gradient of its loss at `parameters` into `gradient`. */
  async step(parameters: Float32Array, gradient: Float32Array): Promise<ShardStep> {
    const batch = this.batches.next().value;
    const shape = [batch.rows, batch.length];
    const outputs = await this.compiled.run({
      tokenIds: { dtype: 'int32', shape, data: batch.tokenIds },
      targetIds: { dtype: 'int32', shape, data: batch.targetIds },
      lossMask: { dtype: 'float32', shape, data: batch.lossMask },
      ...Object.fromEntries(namedTensors(this.slices, parameters)),
    });
    for (const { name, begin } of this.slices) gradient.set(floats(outputs, gradientOf(name)), begin);
    return { loss: floats(outputs, 'loss')[0] ?? NaN, tokens: batch.tokens };
  }
}

const gradientOf = (name: string): string => `gradient of ${name}`;

function lossAndGradients(
  config: LlamaConfig,
  names: readonly string[],
  inputs: Readonly<Record<string, tf.Tensor>>,
): Record<string, tf.Tensor> {
  const input = (name: string): tf.Tensor => {
    const tensor = inputs[name];
    if (!tensor) throw new RangeError(`the step has no input ${name}`);
    return tensor;
  };
  const lossMask = input('lossMask');
  const loss = (...tensors: tf.Tensor[]): tf.Scalar => {
    const weights: Weights = Object.fromEntries(names.map((name, index) => [name, tensors[index] as tf.Tensor]));
    const logProbs = tokenLogProbs(
      config,
      weights,
      input('tokenIds') as tf.Tensor2D,
      input('targetIds') as tf.Tensor2D,
    );
    return tf.neg(tf.div(tf.sum(tf.mul(logProbs, lossMask)), tf.sum(lossMask))) as tf.Scalar;
  };
  const { value, grads } = tf.valueAndGrads(loss)(names.map(input));
  return {
    loss: value,
    ...Object.fromEntries(names.map((name, index) => [gradientOf(name), grads[index] as tf.Tensor])),
  };
}

function floats(outputs: Readonly<Record<string, { readonly data: unknown }>>, name: string): Float32Array {
  const data = outputs[name]?.data;
  if (!(data instanceof Float32Array)) throw new TypeError(`the step gave no float32 ${name}`);
  return data;
}
