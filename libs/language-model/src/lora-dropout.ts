import * as tf from '@tensorflow/tfjs';
import { mulberry32 } from './random';

/** p: prime, and 3 divides no p − 1, so that cubing permutes 0 … p − 1. Its square is far below 2²⁴, up to which float32 is exact. */
export const DROPOUT_MODULUS = 2039;

/** Dropout of what an adapter sees in one training pass. Tensors, not constants, so that a recorded graph draws anew at each run. */
export interface LoraDropout {
  /** Share of the inputs that is left out, [0, 1); kept to the nearest multiple of 1/p. */
  readonly rate: number;
  /** Two keys per row of the input, `[N, 2]` float32 of whole numbers below p. */
  readonly rows: tf.Tensor2D;
  /** Two keys per column of each adapted module's input, `[in, 2]`, by the module's name. */
  readonly columns: Readonly<Record<string, tf.Tensor2D>>;
}

/** `count` pairs of keys from a 32-bit seed, `[count, 2]` row by row: whole numbers below p, uniform. */
export function dropoutKeys(seed: number, count: number): Float32Array {
  const uniform = mulberry32(seed);
  return Float32Array.from({ length: 2 * count }, () => Math.floor(uniform() * DROPOUT_MODULUS));
}

/**
 * Mask of one module's input, the same on every backend.
 *
 *   h = ((r₁ c₁ + r₂)³ + c₂)³ mod p        r: keys of the row, c: keys of the column
 *   mᵢⱼ = p / (p − D) where hᵢⱼ ≥ D, else 0        D = round(rate · p)
 *
 * Dropout, Srivastava et al. 2014, scaled while training; on the input of A alone, as PEFT has it. Every number on the way is a whole one
 * below 2²³, so that float32 is exact; the half in `modulo` keeps a division that rounds by a few units in the last place from
 * reaching the next whole number.
 *
 * @returns `[N, in]` float32, of mean 1; carries no gradient
 */
export function dropoutMask({ rate, rows, columns }: LoraDropout, module: string): tf.Tensor2D {
  const ofModule = columns[module];
  if (!ofModule) throw new RangeError(`no dropout keys for ${module}`);
  return tf.tidy(() => {
    const [r1, r2] = tf.split(rows, 2, 1) as [tf.Tensor2D, tf.Tensor2D];
    const [c1, c2] = tf.split(tf.transpose(ofModule), 2, 0) as [tf.Tensor2D, tf.Tensor2D];
    const mixed = cubed(modulo(tf.add(tf.mul(r1, c1), r2)));
    const drawn = cubed(modulo(tf.add(mixed, c2)));
    const dropped = Math.round(rate * DROPOUT_MODULUS);
    const kept = tf.cast(tf.greaterEqual(drawn, dropped), 'float32');
    return tf.mul(kept, DROPOUT_MODULUS / (DROPOUT_MODULUS - dropped)) as tf.Tensor2D;
  });
}

function cubed(x: tf.Tensor): tf.Tensor {
  return modulo(tf.mul(modulo(tf.mul(x, x)), x));
}

/** x mod p of whole numbers, 0 ≤ x < 2²³. */
function modulo(x: tf.Tensor): tf.Tensor {
  const quotient = tf.floor(tf.div(tf.add(x, 0.5), DROPOUT_MODULUS));
  return tf.sub(x, tf.mul(quotient, DROPOUT_MODULUS));
}
