import * as tf from '@tensorflow/tfjs';
import { dropoutMask, type LoraDropout } from './lora-dropout';
import { loraName } from './lora-names';

/** Tensors by Hugging Face name; matrices are `[out, in]`. */
export type Weights = Readonly<Record<string, tf.Tensor>>;

/** A LoRA adapter beside the weights: y += scale · (x Aᵀ) Bᵀ (Hu et al. 2021, arXiv:2106.09685), tensors by PEFT name. */
export interface LoraTensors {
  readonly weights: Weights;
  /** alpha / rank. */
  readonly scale: number;
  /** Only in a training pass. */
  readonly dropout?: LoraDropout;
}

/** The weight of that name; a missing one is an error. */
export function weight<R extends tf.Rank>(weights: Weights, name: string): tf.Tensor<R> {
  const tensor = weights[name];
  if (!tensor) throw new RangeError(`weight ${name} is missing`);
  return tensor as tf.Tensor<R>;
}

/** `rows · Wᵀ (+ bias) (+ adapter)`: `[N, in]` to `[N, out]`. A module without adapter tensors is not adapted. */
export function linear(
  rows: tf.Tensor2D,
  weights: Weights,
  module: string,
  hasBias: boolean,
  lora?: LoraTensors,
): tf.Tensor2D {
  let out = tf.matMul<tf.Tensor2D>(rows, weight<tf.Rank.R2>(weights, `${module}.weight`), false, true);
  if (hasBias) out = tf.add(out, weight(weights, `${module}.bias`));
  if (!lora?.weights[loraName(module, 'A')]) return out;
  const seen = lora.dropout ? tf.mul<tf.Tensor2D>(rows, dropoutMask(lora.dropout, module)) : rows;
  const down = tf.matMul(seen, weight<tf.Rank.R2>(lora.weights, loraName(module, 'A')), false, true);
  const up = tf.matMul(tf.mul(down, lora.scale), weight<tf.Rank.R2>(lora.weights, loraName(module, 'B')), false, true);
  return tf.add(out, up);
}

/** x / √(mean(x²) + ε) · gain over the last axis (Zhang & Sennrich 2019, arXiv:1910.07467). */
export function rmsNorm<T extends tf.Tensor>(x: T, gain: tf.Tensor, epsilon: number): T {
  return tf.mul(tf.mul(x, tf.rsqrt(tf.add(tf.mean(tf.square(x), -1, true), epsilon))), gain) as T;
}
