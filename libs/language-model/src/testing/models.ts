import { join } from 'node:path';
import * as tf from '@tensorflow/tfjs';
import type { LlamaConfig } from '../config';
import { float32Tensor, sizeOf, type HostTensor } from '../host-tensor';
import { weightShapes } from '../weight-shapes';

// Otherwise tfjs prints advice on the first tensor.
tf.enableProdMode();

export const SEED_DIR = join(__dirname, '../../../../models/seed');

/** Grouped-query attention with three query heads to a key head, untied, and a head wider than hiddenSize/heads. */
export const smallConfig: LlamaConfig = {
  architecture: 'llama',
  vocabSize: 23,
  hiddenSize: 12,
  layers: 2,
  heads: 6,
  kvHeads: 2,
  headDim: 4,
  intermediateSize: 20,
  rmsNormEps: 1e-5,
  ropeTheta: 10000,
  tieWordEmbeddings: false,
  maxPositions: 64,
  bosTokenId: null,
  eosTokenIds: [],
  padTokenId: 0,
  attentionBias: false,
  attentionOutputBias: false,
  mlpBias: false,
  queryKeyNorm: false,
};

/** Weights by a formula: the sine of a running number, norms around 1. */
export function madeWeights(config: LlamaConfig): Map<string, HostTensor> {
  const weights = new Map<string, HostTensor>();
  let start = 0;
  for (const [name, shape] of weightShapes(config)) {
    const wave = Float64Array.from({ length: sizeOf(shape) }, (_, i) => Math.sin((start + i) * 0.7391));
    weights.set(
      name,
      float32Tensor(
        shape,
        Float32Array.from(wave, (x) => (name.includes('norm') ? 1 + 0.2 * x : 0.4 * x)),
      ),
    );
    start += wave.length;
  }
  return weights;
}

export function toTensors(tensors: ReadonlyMap<string, HostTensor>): Record<string, tf.Tensor> {
  return Object.fromEntries(
    [...tensors].map(([name, { data, shape, dtype }]) => [name, tf.tensor(data, [...shape], dtype)]),
  );
}

export function ids(rows: readonly (readonly number[])[]): tf.Tensor2D {
  return tf.tensor2d(
    rows.map((row) => [...row]),
    undefined,
    'int32',
  );
}

/** The largest |a − b|; NaN if either has one. */
export function largestDifference(a: ArrayLike<number>, b: ArrayLike<number>): number {
  if (a.length !== b.length) throw new RangeError(`${a.length} numbers against ${b.length}`);
  let largest = 0;
  for (let i = 0; i < a.length; i++) {
    const difference = Math.abs((a[i] as number) - (b[i] as number));
    if (!(difference <= largest)) largest = difference;
  }
  return largest;
}
