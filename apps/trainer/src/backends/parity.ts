import { HindcastError } from '@hindcast/contracts';
import {
  float32Tensor,
  sizeOf,
  tokenLogProbsAndEntropies,
  weightShapes,
  type HostTensor,
  type LlamaConfig,
} from '@hindcast/language-model';
import * as tf from '@tensorflow/tfjs';
import type { ComputeBackend, HostTensors, TensorFunction } from '../core/compute-backend';
import { PARITY_NUMBERS } from './parity-numbers';

/** Everything a policy is made of, small: grouped queries, their norm, rotation, gated layers, tied embedding. */
const CONFIG: LlamaConfig = {
  architecture: 'qwen3',
  vocabSize: 13,
  hiddenSize: 8,
  layers: 2,
  heads: 4,
  kvHeads: 2,
  headDim: 4,
  intermediateSize: 12,
  rmsNormEps: 1e-6,
  ropeTheta: 10000,
  tieWordEmbeddings: true,
  maxPositions: 16,
  bosTokenId: null,
  eosTokenIds: [],
  padTokenId: null,
  attentionBias: false,
  attentionOutputBias: false,
  mlpBias: false,
  queryKeyNorm: true,
};
const [ROWS, LENGTH] = [2, 7];

/**
 * One loss with its gradients on a small model.
 *
 * @returns `loss`, and under each weight's name Σᵢ gᵢ cos i of its gradient g
 */
export async function parityNumbers(backend: ComputeBackend): Promise<Readonly<Record<string, number>>> {
  const shapes = [...weightShapes(CONFIG)];
  const weights = Object.fromEntries(
    shapes.map(([name, shape], i) => [name, wave(shape, i, name.includes('norm') ? 1 : 0)]),
  );
  const compute = backend.compile('parity', parityStep(shapes.map(([name]) => name)), {});
  const outputs = await compute({ ...weights, ...batch() });
  return Object.fromEntries(
    Object.entries(outputs).map(([name, { data }]) => [
      name,
      (data as Float32Array).reduce((sum, value, i) => sum + value * Math.cos(i), 0),
    ]),
  );
}

/**
 * Computes the numbers and compares them with those that are right.
 *
 * @param tolerance largest difference, absolute and relative
 * @throws HindcastError `config-invalid` that names the backend and the first number it has wrong
 */
export async function assertParity(backend: ComputeBackend, tolerance: number): Promise<void> {
  const numbers = await parityNumbers(backend);
  for (const [name, right] of Object.entries(PARITY_NUMBERS)) {
    const found = numbers[name] ?? NaN;
    // Written so that NaN fails.
    if (Math.abs(found - right) <= tolerance * (1 + Math.abs(right))) continue;
    throw new HindcastError(
      'config-invalid',
      `${backend.name} computes wrong numbers: ${name === 'loss' ? 'a loss' : `a gradient (${name})`} of ${found} instead of ${right}`,
    );
  }
}

function parityStep(names: readonly string[]): TensorFunction {
  return (inputs) => {
    const loss = (...weights: tf.Tensor[]): tf.Scalar => {
      const byName = Object.fromEntries(names.map((name, i) => [name, weights[i]!]));
      const [tokenIds, targetIds] = [inputs['tokenIds'], inputs['targetIds']] as [tf.Tensor2D, tf.Tensor2D];
      const { logProbs, entropies } = tokenLogProbsAndEntropies(CONFIG, byName, tokenIds, targetIds);
      const ratio = tf.exp(tf.sub(logProbs, inputs['oldLogProbs']!));
      const surrogate = tf.minimum(
        tf.mul(ratio, inputs['advantages']!),
        tf.mul(tf.clipByValue(ratio, 0.8, 1.28), inputs['advantages']!),
      );
      // Large enough that an absolute tolerance sees every gradient.
      return tf.mul(tf.sum(tf.add(surrogate, tf.mul(entropies, 0.1))), -10) as tf.Scalar;
    };
    const { value, grads } = tf.valueAndGrads(loss)(names.map((name) => inputs[name]!));
    return { loss: value, ...Object.fromEntries(names.map((name, i) => [name, grads[i]!])) };
  };
}

function batch(): HostTensors {
  const shape = [ROWS, LENGTH];
  const ids = (step: number): HostTensor => ({
    dtype: 'int32',
    shape,
    data: Int32Array.from({ length: sizeOf(shape) }, (_, i) => (i * step + 1) % CONFIG.vocabSize),
  });
  return {
    tokenIds: ids(5),
    targetIds: ids(7),
    // About half of the ratios are outside of the clip.
    oldLogProbs: float32Tensor(shape, wave(shape, 50, -2.5).data),
    advantages: wave(shape, 60, 0),
  };
}

/** Sines around a middle; no two calls overlap. */
function wave(shape: readonly number[], start: number, middle: number): HostTensor & { data: Float32Array } {
  const values = Float32Array.from({ length: sizeOf(shape) }, (_, i) => middle + 0.5 * Math.sin(start * 31 + i * 1.3));
  return float32Tensor(shape, values) as HostTensor & { data: Float32Array };
}
