import type { LlamaConfig } from '@hindcast/language-model';

export type RecomputeSetting = 'auto' | 'on' | 'off';

/** Activations above which `auto` makes them again instead of keeping them. */
const KEPT_BYTES = 2 ** 30;

/**
 * Activations that a backward pass keeps of one micro-batch, bytes, counted op by op:
 *
 *   4 · layers · N (12 · hiddenSize + 6 · intermediateSize + 3 · heads · T)        N: tokens, T: positions of a row
 *
 * An estimate, for a decision between a third more time and many times the memory.
 */
export function activationBytes(
  { layers, hiddenSize, intermediateSize, heads, maxPositions }: LlamaConfig,
  tokenBudget: number,
): number {
  const positions = Math.min(maxPositions, tokenBudget);
  return 4 * layers * tokenBudget * (12 * hiddenSize + 6 * intermediateSize + 3 * heads * positions);
}

/**
 * Whether each layer's activations are made again in the backward pass (Chen et al. 2016, arXiv:1604.06174). Never in a recorded graph:
 * onnxruntime merges what is computed twice, and plans its memory itself.
 *
 * @param backend name of the backend that was chosen
 */
export function recomputes(
  setting: RecomputeSetting,
  backend: string,
  config: LlamaConfig,
  tokenBudget: number,
): boolean {
  if (setting === 'off' || backend.startsWith('onnx')) return false;
  return setting === 'on' || activationBytes(config, tokenBudget) > KEPT_BYTES;
}
