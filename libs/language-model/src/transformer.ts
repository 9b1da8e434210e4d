import * as tf from '@tensorflow/tfjs';
import { causalBlocks, causalMix, mix, mixInBlocks } from './attention';
import type { LlamaConfig } from './config';
import { linear, rmsNorm, swiglu, weight, type LoraTensors, type Weights } from './linear';
import { onlyNeeded, type NeededRows } from './needed-rows';
import { recomputed } from './recompute';
import { rotateBoth, rotation, type Rotation } from './rope';

// Only operations that every backend and the recorder of libs/tfjs-onnx have, and few of them: each is a node of the graph.

export interface ForwardOptions {
  readonly lora?: LoraTensors;
  /** `[B, T]` int32, each below `config.maxPositions`. Default 0 … T−1 in every row, right for left and right padding too: only distances count. */
  readonly positions?: tf.Tensor2D;
  /** `[B, T]` (with a cache `[B, past + T]`), 1 for a token, 0 for padding, on either side; int32 or float32. Padding is never attended to. */
  readonly attentionMask?: tf.Tensor2D;
  /**
   * Keep for the gradient only the hidden states between layers, and compute each layer again in the backward pass: memory for one
   * layer instead of all, for a third more time. Gradients are then made for every weight of a layer, or, with `lora`, for the
   * adapter only. For backends that run operations one by one; onnxruntime merges the repeated ones again.
   */
  readonly recompute?: boolean;
}

/** What `forwardRows` may leave out. */
export interface RowOptions extends ForwardOptions {
  /** The rows of `[B·T, hiddenSize]` that are wanted; default all. */
  readonly needed?: NeededRows;
}

/** Keys and values of one layer, `[B, kvHeads, length, headDim]`. Keys are rotated and carry `rotation`'s factor: feed them back as they are. */
export interface LayerCache {
  readonly keys: tf.Tensor4D;
  readonly values: tf.Tensor4D;
}

interface Call {
  readonly batch: number;
  readonly length: number;
  readonly rotation: Rotation;
  /** `[1 or B, 1, T, past + T]`, 0 where a query may see a key, hugely negative elsewhere. */
  readonly bias: tf.Tensor4D;
  /** Some places are padding that no query may see. */
  readonly isMasked: boolean;
  readonly lora?: LoraTensors;
  /** Only in the last layer. */
  readonly needed?: NeededRows;
}

/**
 * Last hidden states, after the final norm, of a decoder of the LLaMA family.
 *
 * @param weights  by Hugging Face name, see `weightShapes`
 * @param tokenIds `[B, T]` int32
 * @returns `[B, T, hiddenSize]`; rows of padding are finite and mean nothing
 */
export function forwardHidden(
  config: LlamaConfig,
  weights: Weights,
  tokenIds: tf.Tensor2D,
  options: ForwardOptions = {},
): tf.Tensor3D {
  return tf.tidy(() => byPosition(config, tokenIds, forward(config, weights, tokenIds, options).rows));
}

/** The same as rows, `[B·T, hiddenSize]`, or `[P, hiddenSize]` of the needed ones alone. */
export function forwardRows(
  config: LlamaConfig,
  weights: Weights,
  tokenIds: tf.Tensor2D,
  options: RowOptions = {},
): tf.Tensor2D {
  return tf.tidy(() => forward(config, weights, tokenIds, options).rows);
}

/**
 * The same for T further tokens after `past` cached ones, for generation. `past[l]` belongs to layer l; every layer's is of one
 * length P; unused places of it are switched off by the mask. Without `positions` the tokens stand at P … P+T−1.
 *
 * @returns hidden states `[B, T, hiddenSize]` and, per layer, keys and values of the new tokens only
 */
export function forwardCached(
  config: LlamaConfig,
  weights: Weights,
  tokenIds: tf.Tensor2D,
  past: readonly LayerCache[],
  options: ForwardOptions = {},
): { hidden: tf.Tensor3D; added: LayerCache[] } {
  if (past.length !== config.layers)
    throw new RangeError(`a cache of ${past.length} layers for a model of ${config.layers}`);
  const { rows, added } = forward(config, weights, tokenIds, options, past);
  return { hidden: byPosition(config, tokenIds, rows), added };
}

function byPosition({ hiddenSize }: LlamaConfig, { shape }: tf.Tensor2D, rows: tf.Tensor2D): tf.Tensor3D {
  return tf.reshape<tf.Rank.R3>(rows, [...shape, hiddenSize]);
}

/** Logits of hidden states: `[..., hiddenSize]` to `[..., vocabSize]`. */
export function logits<T extends tf.Tensor>(config: LlamaConfig, weights: Weights, hidden: T): T {
  const rows = tf.reshape<tf.Rank.R2>(hidden, [-1, config.hiddenSize]);
  const out = tf.matMul(rows, outputMatrix(config, weights), false, true);
  return tf.reshape(out, [...hidden.shape.slice(0, -1), config.vocabSize]) as T;
}

/** The output layer `[vocabSize, hiddenSize]`: the embedding itself when tied. */
export function outputMatrix(config: LlamaConfig, weights: Weights): tf.Tensor2D {
  return weight<tf.Rank.R2>(weights, config.tieWordEmbeddings ? 'model.embed_tokens.weight' : 'lm_head.weight');
}

function forward(
  config: LlamaConfig,
  weights: Weights,
  tokenIds: tf.Tensor2D,
  options: RowOptions,
  past?: readonly LayerCache[],
): { rows: tf.Tensor2D; added: LayerCache[] } {
  const [batch, length] = tokenIds.shape;
  const pastLength = past?.[0]?.keys.shape[2] ?? 0;
  const call: Call = {
    batch,
    length,
    rotation: rotation(config, length, pastLength, options.positions),
    bias: attentionBias(length, pastLength, options.attentionMask),
    isMasked: options.attentionMask !== undefined,
    ...(options.lora && { lora: options.lora }),
  };
  let hidden = tf.gather(
    weight<tf.Rank.R2>(weights, 'model.embed_tokens.weight'),
    tf.reshape(tokenIds, [-1]),
  ) as tf.Tensor2D;
  const added: LayerCache[] = [];
  for (let layer = 0; layer < config.layers; layer++) {
    const at = `model.layers.${layer}.`;
    const own = layer === config.layers - 1 && options.needed ? { ...call, needed: options.needed } : call;
    if (options.recompute && !past) {
      hidden = recomputedBlock(config, weights, at, hidden, own);
      continue;
    }
    const [next, keys, values] = tf.tidy(() => block(config, weights, at, hidden, own, past?.[layer]));
    hidden = next;
    if (past) added.push({ keys, values });
  }
  hidden = rmsNorm(hidden, weight(weights, 'model.norm.weight'), config.rmsNormEps);
  return { rows: hidden, added };
}

/** One pre-norm layer on `[B·T, hiddenSize]`, to `[P, hiddenSize]` where not all rows are needed; also the keys and values of its tokens. */
function block(
  config: LlamaConfig,
  weights: Weights,
  at: string,
  hidden: tf.Tensor2D,
  call: Call,
  past?: LayerCache,
): [tf.Tensor2D, tf.Tensor4D, tf.Tensor4D] {
  const { rmsNormEps, mlpBias } = config;
  const normed = rmsNorm(hidden, weight(weights, `${at}input_layernorm.weight`), rmsNormEps);
  const { context, keys, values } = attention(config, weights, `${at}self_attn.`, normed, call, past);
  const { needed } = call;
  const rows = (x: tf.Tensor2D): tf.Tensor2D => (needed ? onlyNeeded(x, needed) : x);
  const lora = needed && call.lora ? loraOfRows(call.lora, needed) : call.lora;
  const attended = tf.add(
    rows(hidden),
    linear(rows(context), weights, `${at}self_attn.o_proj`, config.attentionOutputBias, lora),
  ) as tf.Tensor2D;

  const fed = rmsNorm(attended, weight(weights, `${at}post_attention_layernorm.weight`), rmsNormEps);
  const gate = linear(fed, weights, `${at}mlp.gate_proj`, mlpBias, lora);
  const up = linear(fed, weights, `${at}mlp.up_proj`, mlpBias, lora);
  const inner = swiglu(gate, up);
  return [tf.add(attended, linear(inner, weights, `${at}mlp.down_proj`, mlpBias, lora)), keys, values];
}

/** Each row keeps its own dropout mask. */
function loraOfRows(lora: LoraTensors, { rows }: NeededRows): LoraTensors {
  return lora.dropout ? { ...lora, dropout: { ...lora.dropout, rows: tf.gather(lora.dropout.rows, rows) } } : lora;
}

/** `block` without cache, keeping only what goes in. Base weights under an adapter are constants that outlive the backward pass. */
function recomputedBlock(
  config: LlamaConfig,
  weights: Weights,
  at: string,
  hidden: tf.Tensor2D,
  call: Call,
): tf.Tensor2D {
  const { lora, rotation: turn, bias, needed } = call;
  const trained = Object.entries(lora?.weights ?? weights).filter(([name]) => name.includes(at));
  const run = ([rows, ...tensors]: tf.Tensor[], [cos, sin, mask, wanted, places]: tf.Tensor[]): tf.Tensor => {
    const changed = Object.fromEntries(trained.map(([name], i) => [name, tensors[i] as tf.Tensor]));
    const constants = { rotation: { cos: cos as tf.Tensor4D, sin: sin as tf.Tensor4D }, bias: mask as tf.Tensor4D };
    const again: Call = {
      ...call,
      ...constants,
      ...(lora && { lora: { ...lora, weights: changed } }),
      ...(needed && { needed: { rows: wanted as tf.Tensor1D, places: places as tf.Tensor1D } }),
    };
    return block(config, lora ? weights : changed, at, rows as tf.Tensor2D, again)[0];
  };
  const kept = [turn.cos, turn.sin, bias, ...(needed ? [needed.rows, needed.places] : [])];
  return recomputed(run, [hidden, ...trained.map(([, tensor]) => tensor)], kept) as tf.Tensor2D;
}

/**
 * Grouped-query attention (Ainslie et al. 2023, arXiv:2305.13245). Query heads that share a key head are neighbours, so they are
 * folded into the rows of one matrix, `[B·kvHeads, group·T, headDim]`, and keys and values are never repeated.
 */
function attention(
  config: LlamaConfig,
  weights: Weights,
  at: string,
  normed: tf.Tensor2D,
  call: Call,
  past?: LayerCache,
) {
  const { heads, kvHeads, headDim, attentionBias: hasBias } = config;
  const { batch, length, lora } = call;
  const q = headNorm(config, weights, `${at}q_norm`, heads, linear(normed, weights, `${at}q_proj`, hasBias, lora));
  const k = headNorm(config, weights, `${at}k_norm`, kvHeads, linear(normed, weights, `${at}k_proj`, hasBias, lora));
  const v = linear(normed, weights, `${at}v_proj`, hasBias, lora);
  const byHead = (rows: tf.Tensor, count: number): tf.Tensor4D => tf.reshape(rows, [batch, length, count, headDim]);

  const turned = rotateBoth(byHead(q, heads), byHead(k, kvHeads), call.rotation);
  const flat = (mixed: tf.Tensor4D): tf.Tensor2D => tf.reshape(mixed, [batch * length, heads * headDim]);
  const [queries, keys, values] = [...turned, byHead(v, kvHeads)].map((x) => tf.transpose(x, [0, 2, 1, 3])) as [
    tf.Tensor4D,
    tf.Tensor4D,
    tf.Tensor4D,
  ];
  // What blocks leave out is worth more than one operation for all.
  const blocks = causalBlocks(length);
  const atOnce = past || call.isMasked || blocks > 1 ? null : causalMix(...turned, byHead(v, kvHeads));
  if (atOnce) return { context: flat(atOnce), keys, values };

  const allKeys = past ? tf.concat([past.keys, keys], 2) : keys;
  const allValues = past ? tf.concat([past.values, values], 2) : values;
  const mixed = past
    ? mix(queries, allKeys, allValues, call.bias)
    : mixInBlocks(queries, allKeys, allValues, call.bias, blocks);
  return { context: flat(tf.transpose(mixed, [0, 2, 1, 3])), keys, values };
}

/** Qwen3 norms each query and key head; the others leave them. `[B·T, count·headDim]` both ways. */
function headNorm(config: LlamaConfig, weights: Weights, name: string, count: number, rows: tf.Tensor2D): tf.Tensor2D {
  if (!config.queryKeyNorm) return rows;
  const { headDim, rmsNormEps } = config;
  const normed = rmsNorm(tf.reshape(rows, [-1, headDim]), weight(weights, `${name}.weight`), rmsNormEps);
  return tf.reshape(normed, [-1, count * headDim]);
}

// Finite, so that a row of padding that may see nothing has a softmax all the same; two of them still fit in float32.
const FORBIDDEN = -1e9;

/** Query t stands at place past + t of the keys and sees those up to itself that are not padding. */
function attentionBias(length: number, pastLength: number, attentionMask?: tf.Tensor2D): tf.Tensor4D {
  const keyCount = pastLength + length;
  const causal = new Float32Array(length * keyCount);
  for (let t = 0; t < length; t++) causal.fill(FORBIDDEN, t * keyCount + pastLength + t + 1, (t + 1) * keyCount);
  const bias = tf.tensor4d(causal, [1, 1, length, keyCount]);
  if (!attentionMask) return bias;
  const [batch, columns] = attentionMask.shape;
  if (columns !== keyCount) throw new RangeError(`an attention mask of ${columns} columns for ${keyCount} keys`);
  const padding = tf.mul(tf.sub(1, tf.cast(attentionMask, 'float32')), FORBIDDEN);
  return tf.add(tf.reshape<tf.Rank.R4>(padding, [batch, 1, 1, keyCount]), bias);
}
