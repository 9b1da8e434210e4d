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

/**
 * x / √(mean(x²) + ε) · gain over the last axis (Zhang & Sennrich 2019, arXiv:1910.07467). With r = 1 / √(mean(x²) + ε),
 *
 *   ∂x = r (dy · gain − x r² m), m = mean(dy · gain · x)        ∂gain = Σ dy · x · r
 *
 * Both sums are products of the matrix dy · x with a vector, gain and r: it is made once, and nothing is read a second time.
 */
export function rmsNorm<T extends tf.Tensor>(x: T, gain: tf.Tensor, epsilon: number): T {
  const operation = tf.customGrad((...all) => {
    const [input, factor, save] = all as unknown as [tf.Tensor, tf.Tensor, tf.GradSaveFunc];
    const [value, inverse] = normed(input, factor, epsilon);
    save([input, inverse, factor]);
    return { value, gradFunc: (dy, saved) => rmsNormGradients(dy as tf.Tensor, saved) };
  });
  return operation(x, gain) as T;
}

/** The result, and r, `[…, 1]`. One operation where the backend has it. */
function normed(x: tf.Tensor, gain: tf.Tensor, epsilon: number): [tf.Tensor, tf.Tensor] {
  if (tf.getKernel('RmsNorm', tf.getBackend())) {
    return tf.engine().runKernel('RmsNorm', { x, gain }, { epsilon }) as [tf.Tensor, tf.Tensor];
  }
  const inverse = tf.rsqrt(tf.add(tf.mean(tf.square(x), -1, true), epsilon));
  return [tf.mul(tf.mul(x, inverse), gain), inverse];
}

function rmsNormGradients(dy: tf.Tensor, saved: tf.Tensor[]): tf.Tensor[] {
  const [x, inverse, gain] = saved as [tf.Tensor, tf.Tensor, tf.Tensor];
  const width = gain.size;
  const products = tf.reshape<tf.Rank.R2>(tf.mul(dy, x), [-1, width]);
  const weights = tf.reshape<tf.Rank.R2>(tf.div(gain, width), [width, 1]);
  const along = tf.reshape(tf.matMul(products, weights), inverse.shape);
  const pull = tf.mul(x, tf.mul(tf.square(inverse), along));
  const dGain = tf.matMul(tf.reshape<tf.Rank.R2>(inverse, [1, -1]), products);
  return [tf.mul(tf.sub(tf.mul(dy, gain), pull), inverse), tf.reshape(dGain, gain.shape)];
}

/**
 * SwiGLU, y = silu(gate) · up (Shazeer 2020, arXiv:2002.05202), with its own gradient for the same reason: with s = σ(gate),
 *
 *   ∂gate = dy (y + s (up − y))        ∂up = dy silu(gate)
 */
export function swiglu(gate: tf.Tensor2D, up: tf.Tensor2D): tf.Tensor2D {
  const operation = tf.customGrad((...all) => {
    const [left, right, save] = all as unknown as [tf.Tensor2D, tf.Tensor2D, tf.GradSaveFunc];
    const s = tf.sigmoid(left);
    const a = tf.mul<tf.Tensor2D>(left, s);
    const value = tf.mul<tf.Tensor2D>(a, right);
    save([s, a, right, value]);
    return {
      value,
      gradFunc: (dy, saved) => {
        const [sigmoid, silu, factor, product] = saved as [tf.Tensor, tf.Tensor, tf.Tensor, tf.Tensor];
        const slope = tf.add(product, tf.mul(sigmoid, tf.sub(factor, product)));
        return [tf.mul(dy as tf.Tensor, slope), tf.mul(dy as tf.Tensor, silu)];
      },
    };
  });
  return operation(gate, up) as tf.Tensor2D;
}
