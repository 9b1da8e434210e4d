import * as tf from '@tensorflow/tfjs';

/**
 * The P rows of N that something is needed of. What follows the last exchange between positions (the last layer's attention) is
 * computed for them alone: of a conversation with a long prompt, only the positions that predict the answer have a log-prob that is read.
 *
 * At least one row that is not needed stands at the end of `rows`, and takes the place of all such: its numbers are finite and mean
 * nothing, and no gradient may be given to it.
 */
export interface NeededRows {
  /** `[P]` int32: the needed rows, then rows that are not needed. */
  readonly rows: tf.Tensor1D;
  /** `[N]` int32: where each needed row stands in `rows`; P − 1 for every other. */
  readonly places: tf.Tensor1D;
}

/** `[N, width]` to `[P, width]`. */
export function onlyNeeded(x: tf.Tensor2D, { rows, places }: NeededRows): tf.Tensor2D {
  return gathered(x, rows, places);
}

/** `[P, width]` back to `[N, width]`. */
export function spreadOut(x: tf.Tensor2D, { rows, places }: NeededRows): tf.Tensor2D {
  return gathered(x, places, rows);
}

/** x at the given rows. Its gradient is gathered too, because `back` undoes `at`: adding up row by row is many times slower. */
function gathered(x: tf.Tensor2D, at: tf.Tensor1D, back: tf.Tensor1D): tf.Tensor2D {
  const operation = tf.customGrad((...all) => {
    const [input, save] = all as unknown as [tf.Tensor2D, tf.GradSaveFunc];
    save([back]);
    return { value: tf.gather(input, at), gradFunc: (dy, saved) => tf.gather(dy, saved[0] as tf.Tensor1D) };
  });
  return operation(x) as tf.Tensor2D;
}
