import {
  candidateLogProbs,
  tokenLogProbs,
  tokenLogProbsAndEntropies,
  type LlamaConfig,
  type LogProbOptions,
  type LoraDropout,
} from '@hindcast/language-model';
import * as tf from '@tensorflow/tfjs';
import type { TensorFunction } from './compute-backend';
import { NEEDED_PLACES, NEEDED_ROWS } from './needed-positions';
import { combinedLoss, needsEntropy, needsReference, type LossSettings } from './loss/combined-loss';

/** What is frozen and what is trained; weights by Hugging Face and PEFT names. */
export interface PolicyShape {
  readonly config: LlamaConfig;
  /** Weights of the base model that stay as they are: all of them under LoRA, none under full tuning. */
  readonly frozenNames: readonly string[];
  readonly trainedNames: readonly string[];
  /** Scale of the adapter; `null` when the weights themselves are trained. */
  readonly loraScale: number | null;
  /** Share of a module's inputs that the adapter does not see in a training pass. */
  readonly dropout: number;
  /** Keep no activations within a layer for the backward pass; make them again there. */
  readonly recompute: boolean;
}

export const GRADIENT_PREFIX = 'gradient:';
export const ROW_PREFIX = 'row:';
/** Keys of the dropout masks: of the positions, and of the columns of each module's input. */
export const DROPOUT_ROWS = 'dropout';
export const DROPOUT_PREFIX = 'dropout:';

type Tensors = Readonly<Record<string, tf.Tensor>>;

/** log π of every target id under the policy, `[B, T]` nats; of the needed positions where the inputs name them. */
export function logProbsFunction(shape: PolicyShape): TensorFunction {
  return (inputs) => {
    const { weights, options } = policyWeights(shape, inputs, pick(inputs, shape.trainedNames));
    return { logProbs: tokenLogProbs(shape.config, weights, ...tokens(inputs), options) };
  };
}

/** log π_ref of every target id: the base model's, whose weights are all given by name; `[B, T]` nats. */
export function referenceLogProbsFunction(config: LlamaConfig): TensorFunction {
  return (inputs) => ({ logProbs: tokenLogProbs(config, inputs, ...tokens(inputs), neededOf(inputs)) });
}

/**
 * Log-probs → loss → gradients of what is trained, as one function: recorded once with its own derivative, it is one graph.
 *
 * Reads `tokenIds`, `targetIds`, `oldLogProbs`, `advantages`, `tokenWeights`, all `[B, T]`; where the loss needs them `refLogProbs`
 * `[B, T]`; which positions are needed, where not all are; for the top-K term `topKIds`, `topKLogProbs` `[B, T, K]` and `topKWeights` `[B, T]`; the keys of dropout masks; and
 * the weights by name. Gives `logProbs` `[B, T]`, under `row:<name>` the parts of `LossRows`, `[B]` each, and under `gradient:<name>` the
 * gradient of each trained weight.
 */
export function lossAndGradientsFunction(shape: PolicyShape, settings: LossSettings): TensorFunction {
  return (inputs) => {
    const outputs: Record<string, tf.Tensor> = {};
    const lossOf = (...weights: tf.Tensor[]): tf.Scalar => {
      const trained = Object.fromEntries(shape.trainedNames.map((name, i) => [name, weights[i]!]));
      const policy = policyStatistics(shape, inputs, trained, settings);
      const { loss, rows } = combinedLoss(
        {
          logProbs: policy.logProbs,
          oldLogProbs: inputs['oldLogProbs'] as tf.Tensor2D,
          advantages: inputs['advantages'] as tf.Tensor2D,
          weights: inputs['tokenWeights'] as tf.Tensor2D,
          refLogProbs: needsReference(settings) ? (inputs['refLogProbs'] as tf.Tensor2D) : null,
          entropy: policy.entropies,
          topK: policy.candidates && {
            logProbs: policy.candidates,
            teacherLogProbs: inputs['topKLogProbs'] as tf.Tensor3D,
            weights: inputs['topKWeights'] as tf.Tensor2D,
          },
        },
        settings,
      );
      // The derivative tidies up behind itself; what else is reported must outlive that.
      for (const [name, row] of Object.entries(rows))
        outputs[`${ROW_PREFIX}${name}`] = tf.keep((row as tf.Tensor).clone());
      outputs['logProbs'] = tf.keep(policy.logProbs.clone());
      return loss;
    };
    const { grads } = tf.valueAndGrads(lossOf)(shape.trainedNames.map((name) => inputs[name]!));
    shape.trainedNames.forEach((name, i) => (outputs[`${GRADIENT_PREFIX}${name}`] = grads[i]!));
    return outputs;
  };
}

interface PolicyStatistics {
  readonly logProbs: tf.Tensor2D;
  readonly entropies: tf.Tensor2D | null;
  /** log π_θ at the teacher's K ids, `[B, T, K]`. */
  readonly candidates: tf.Tensor3D | null;
}

function policyStatistics(
  shape: PolicyShape,
  inputs: Tensors,
  trained: Tensors,
  settings: LossSettings,
): PolicyStatistics {
  const { weights, options } = policyWeights(shape, inputs, trained);
  const [tokenIds, targetIds] = tokens(inputs);
  const withEntropy = needsEntropy(settings);
  const topKIds = settings.topKCoef === 0 ? undefined : (inputs['topKIds'] as tf.Tensor3D | undefined);
  if (topKIds) {
    const all = tf.concat([tf.expandDims(targetIds, 2), topKIds], 2) as tf.Tensor3D;
    const { logProbs, entropies } = candidateLogProbs(shape.config, weights, tokenIds, all, options);
    const [chosen, candidates] = tf.split(logProbs, [1, topKIds.shape[2]], 2) as [tf.Tensor3D, tf.Tensor3D];
    return { logProbs: tf.reshape(chosen, targetIds.shape), entropies: withEntropy ? entropies : null, candidates };
  }
  if (!withEntropy) {
    const logProbs = tokenLogProbs(shape.config, weights, tokenIds, targetIds, options);
    return { logProbs, entropies: null, candidates: null };
  }
  return { ...tokenLogProbsAndEntropies(shape.config, weights, tokenIds, targetIds, options), candidates: null };
}

/** Weights and options of the forward pass; with dropout where the inputs hold its keys. */
function policyWeights(
  { frozenNames, loraScale, dropout, recompute }: PolicyShape,
  inputs: Tensors,
  trained: Tensors,
): { weights: Tensors; options: LogProbOptions } {
  const frozen = pick(inputs, frozenNames);
  const needed = neededOf(inputs);
  if (loraScale === null) return { weights: { ...frozen, ...trained }, options: { recompute, ...needed } };
  const keys = dropoutKeysOf(inputs, dropout);
  return {
    weights: frozen,
    options: { recompute, ...needed, lora: { weights: trained, scale: loraScale, ...(keys && { dropout: keys }) } },
  };
}

/** Where the inputs say that only some positions are needed. */
function neededOf(inputs: Tensors): Pick<LogProbOptions, 'needed'> {
  const rows = inputs[NEEDED_ROWS] as tf.Tensor1D | undefined;
  return rows ? { needed: { rows, places: inputs[NEEDED_PLACES] as tf.Tensor1D } } : {};
}

function dropoutKeysOf(inputs: Tensors, rate: number): LoraDropout | null {
  const rows = inputs[DROPOUT_ROWS];
  if (!rows) return null;
  const columns = Object.entries(inputs)
    .filter(([name]) => name.startsWith(DROPOUT_PREFIX))
    .map(([name, keys]) => [name.slice(DROPOUT_PREFIX.length), keys as tf.Tensor2D] as const);
  return { rate, rows: rows as tf.Tensor2D, columns: Object.fromEntries(columns) };
}

function tokens(inputs: Tensors): [tf.Tensor2D, tf.Tensor2D] {
  return [inputs['tokenIds'] as tf.Tensor2D, inputs['targetIds'] as tf.Tensor2D];
}

function pick(inputs: Tensors, names: readonly string[]): Tensors {
  return Object.fromEntries(names.map((name) => [name, inputs[name]!]));
}
