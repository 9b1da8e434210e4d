import { tokenLogProbs, tokenLogProbsAndEntropies, type LlamaConfig } from '@hindcast/language-model';
import * as tf from '@tensorflow/tfjs';
import type { TensorFunction } from './compute-backend';
import { combinedLoss, type LossSettings } from './loss/combined-loss';

/** The base model and the adapter that is trained beside it; weights by Hugging Face and PEFT names. */
export interface PolicyShape {
  readonly config: LlamaConfig;
  readonly baseNames: readonly string[];
  readonly loraNames: readonly string[];
  /** alpha / rank. */
  readonly loraScale: number;
}

export const GRADIENT_PREFIX = 'gradient:';

type Tensors = Readonly<Record<string, tf.Tensor>>;

/** log π of every target id, `[B, T]` nats; `withLora` false leaves the adapter out: the reference. */
export function logProbsFunction(shape: PolicyShape, withLora: boolean): TensorFunction {
  return (inputs) => ({ logProbs: policyLogProbs(shape, inputs, withLora ? pick(inputs, shape.loraNames) : null) });
}

/**
 * Log-probs → loss → gradients of the adapter, as one function: recorded once with its own derivative, it is one graph.
 *
 * Reads `tokenIds`, `targetIds`, `oldLogProbs`, `advantages`, `tokenWeights`, all `[B, T]`, and the weights by name. Gives the
 * loss and its parts, `logProbs` `[B, T]`, `rowLoss` `[B]`, and under `gradient:<name>` the gradient of each adapter matrix.
 */
export function lossAndGradientsFunction(shape: PolicyShape, settings: LossSettings): TensorFunction {
  return (inputs) => {
    const outputs: Record<string, tf.Tensor> = {};
    const lossOf = (...adapter: tf.Tensor[]): tf.Scalar => {
      const lora = Object.fromEntries(shape.loraNames.map((name, i) => [name, adapter[i]!]));
      const policy = policyStatistics(shape, inputs, lora, settings.entropyCoef !== 0);
      const refLogProbs = settings.klCoef === 0 ? null : policyLogProbs(shape, inputs, null);
      const { loss, ...parts } = combinedLoss(
        {
          logProbs: policy.logProbs,
          oldLogProbs: inputs['oldLogProbs'] as tf.Tensor2D,
          advantages: inputs['advantages'] as tf.Tensor2D,
          weights: inputs['tokenWeights'] as tf.Tensor2D,
          refLogProbs,
          entropy: policy.entropies,
        },
        settings,
      );
      // The derivative tidies up behind itself; what else is reported must outlive that.
      for (const [name, tensor] of Object.entries({ ...parts, logProbs: policy.logProbs })) {
        if (tensor) outputs[name] = tf.keep(tensor.clone());
      }
      return loss;
    };
    const { value, grads } = tf.valueAndGrads(lossOf)(shape.loraNames.map((name) => inputs[name]!));
    outputs['loss'] = value;
    shape.loraNames.forEach((name, i) => (outputs[`${GRADIENT_PREFIX}${name}`] = grads[i]!));
    return outputs;
  };
}

function policyLogProbs(shape: PolicyShape, inputs: Tensors, lora: Tensors | null): tf.Tensor2D {
  return tokenLogProbs(shape.config, pick(inputs, shape.baseNames), ...tokens(inputs), loraOption(shape, lora));
}

function policyStatistics(
  shape: PolicyShape,
  inputs: Tensors,
  lora: Tensors,
  withEntropy: boolean,
): { logProbs: tf.Tensor2D; entropies: tf.Tensor2D | null } {
  if (!withEntropy) return { logProbs: policyLogProbs(shape, inputs, lora), entropies: null };
  const base = pick(inputs, shape.baseNames);
  return tokenLogProbsAndEntropies(shape.config, base, ...tokens(inputs), loraOption(shape, lora));
}

function tokens(inputs: Tensors): [tf.Tensor2D, tf.Tensor2D] {
  return [inputs['tokenIds'] as tf.Tensor2D, inputs['targetIds'] as tf.Tensor2D];
}

function loraOption(shape: PolicyShape, weights: Tensors | null) {
  return weights ? { lora: { weights, scale: shape.loraScale } } : {};
}

function pick(inputs: Tensors, names: readonly string[]): Tensors {
  return Object.fromEntries(names.map((name) => [name, inputs[name]!]));
}
