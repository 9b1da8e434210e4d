import * as tf from '@tensorflow/tfjs';

/**
 * Activation recomputation (Chen et al. 2016, arXiv:1604.06174): f(inputs, constants), of which only inputs and constants are kept
 * for the gradient; the backward pass computes f again. Gradients reach every one of `inputs`, and `f` must use them all.
 */
export function recomputed(
  f: (inputs: tf.Tensor[], constants: tf.Tensor[]) => tf.Tensor,
  inputs: tf.Tensor[],
  constants: tf.Tensor[],
): tf.Tensor {
  const operation = tf.customGrad((...all) => {
    const save = all.at(-1) as unknown as tf.GradSaveFunc;
    const kept = [...(all.slice(0, -1) as tf.Tensor[]), ...constants];
    save(kept);
    const call = (tensors: tf.Tensor[]): tf.Tensor => f(tensors.slice(0, inputs.length), tensors.slice(inputs.length));
    return {
      value: call(kept),
      gradFunc: (dy, saved) =>
        onTapeOfItsOwn(() =>
          tf.grads((...again) => call([...again, ...saved.slice(inputs.length)]))(saved.slice(0, inputs.length), dy),
        ),
    };
  });
  return operation(...inputs);
}

/** tf.grads inside a gradient would throw away the tape that the outer backward pass still walks. */
function onTapeOfItsOwn<T>(gradient: () => T): T {
  const { state } = tf.engine();
  const outer = state.activeTape;
  try {
    return gradient();
  } finally {
    state.activeTape = outer;
  }
}
