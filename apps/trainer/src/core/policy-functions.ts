import { tokenLogProbs, tokenLogProbsAndEntropies, type LlamaConfig } from '@hindcast/language-model';
import * as tf from '@tensorflow/tfjs';
import type { TensorFunction } from './compute-backend';
import { combinedLoss, type LossSettings } from './loss/combined-loss';

/** What is frozen and what is trained; weights by Hugging Face and PEFT names. */
export interface PolicyShape {
  readonly config: LlamaConfig;
  /** Weights of the base model that stay as they are: all of them under LoRA, none under full tuning. */
  readonly frozenNames: readonly string[];
  readonly trainedNames: readonly string[];
  /** Scale of the adapter; `null` when the weights themselves are trained. */
  readonly loraScale: number | null;
}

export const GRADIENT_PREFIX = 'gradient:';

type Tensors = Readonly<Record<string, tf.Tensor>>;

/** log π of every target id under the policy, `[B, T]` nats. */
export function logProbsFunction(shape: PolicyShape): TensorFunction {
  return (inputs) => ({ logProbs: policyLogProbs(shape, inputs, pick(inputs, shape.trainedNames)) });
}

/** log π_ref of every target id: the base model's, whose weights are all given by name; `[B, T]` nats. */
export function referenceLogProbsFunction(config: LlamaConfig): TensorFunction {
  return (inputs) => ({ logProbs: tokenLogProbs(config, inputs, ...tokens(inputs)) });
}

/**
 * Log-probs → loss → gradients of what is trained, as one function: recorded once with its own derivative, it is one graph.
 *
 * Reads `tokenIds`, `targetIds`, `oldLogProbs`, `advantages`, `tokenWeights`, all `[B, T]`, where the loss has a KL term
 * `refLogProbs` too, and the weights by name. Gives the loss and its parts, `logProbs` `[B, T]`, `rowLoss` `[B]`, and under
 * `gradient:<name>` the gradient of each trained weight.
 */
export function lossAndGradientsFunction(shape: PolicyShape, settings: LossSettings): TensorFunction {
  return (inputs) => {
    const outputs: Record<string, tf.Tensor> = {};
    const lossOf = (...weights: tf.Tensor[]): tf.Scalar => {
      const trained = Object.fromEntries(shape.trainedNames.map((name, i) => [name, weights[i]!]));
      const policy = policyStatistics(shape, inputs, trained, settings.entropyCoef !== 0);
      const { loss, ...parts } = combinedLoss(
        {
          logProbs: policy.logProbs,
          oldLogProbs: inputs['oldLogProbs'] as tf.Tensor2D,
          advantages: inputs['advantages'] as tf.Tensor2D,
          weights: inputs['tokenWeights'] as tf.Tensor2D,
          refLogProbs: settings.klCoef === 0 ? null : (inputs['refLogProbs'] as tf.Tensor2D),
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
    const { value, grads } = tf.valueAndGrads(lossOf)(shape.trainedNames.map((name) => inputs[name]!));
    outputs['loss'] = value;
    shape.trainedNames.forEach((name, i) => (outputs[`${GRADIENT_PREFIX}${name}`] = grads[i]!));
    return outputs;
  };
}

function policyLogProbs(shape: PolicyShape, inputs: Tensors, trained: Tensors): tf.Tensor2D {
  return tokenLogProbs(shape.config, ...policy(shape, inputs, trained));
}

function policyStatistics(
  shape: PolicyShape,
  inputs: Tensors,
  trained: Tensors,
  withEntropy: boolean,
): { logProbs: tf.Tensor2D; entropies: tf.Tensor2D | null } {
  if (!withEntropy) return { logProbs: policyLogProbs(shape, inputs, trained), entropies: null };
  return tokenLogProbsAndEntropies(shape.config, ...policy(shape, inputs, trained));
}

/** Weights, tokens and options of the forward pass. */
function policy({ frozenNames, loraScale }: PolicyShape, inputs: Tensors, trained: Tensors) {
  const frozen = pick(inputs, frozenNames);
  const [weights, options] =
    loraScale === null ? [{ ...frozen, ...trained }, {}] : [frozen, { lora: { weights: trained, scale: loraScale } }];
  return [weights, ...tokens(inputs), options] as const;
}

function tokens(inputs: Tensors): [tf.Tensor2D, tf.Tensor2D] {
  return [inputs['tokenIds'] as tf.Tensor2D, inputs['targetIds'] as tf.Tensor2D];
}

function pick(inputs: Tensors, names: readonly string[]): Tensors {
  return Object.fromEntries(names.map((name) => [name, inputs[name]!]));
}
