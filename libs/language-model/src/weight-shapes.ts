import type { LlamaConfig } from './config';

/** Every weight that the forward pass reads, by its Hugging Face name, with its shape. Matrices are `[out, in]`. */
export function weightShapes(config: LlamaConfig): Map<string, readonly number[]> {
  const { hiddenSize, headDim, intermediateSize, vocabSize } = config;
  const queries = config.heads * headDim;
  const keys = config.kvHeads * headDim;
  const shapes = new Map<string, readonly number[]>([['model.embed_tokens.weight', [vocabSize, hiddenSize]]]);
  const linear = (name: string, out: number, into: number, hasBias: boolean): void => {
    shapes.set(`${name}.weight`, [out, into]);
    if (hasBias) shapes.set(`${name}.bias`, [out]);
  };
  for (let layer = 0; layer < config.layers; layer++) {
    const at = `model.layers.${layer}.`;
    shapes.set(`${at}input_layernorm.weight`, [hiddenSize]);
    linear(`${at}self_attn.q_proj`, queries, hiddenSize, config.attentionBias);
    linear(`${at}self_attn.k_proj`, keys, hiddenSize, config.attentionBias);
    linear(`${at}self_attn.v_proj`, keys, hiddenSize, config.attentionBias);
    linear(`${at}self_attn.o_proj`, hiddenSize, queries, config.attentionOutputBias);
    if (config.queryKeyNorm) {
      shapes.set(`${at}self_attn.q_norm.weight`, [headDim]);
      shapes.set(`${at}self_attn.k_norm.weight`, [headDim]);
    }
    shapes.set(`${at}post_attention_layernorm.weight`, [hiddenSize]);
    linear(`${at}mlp.gate_proj`, intermediateSize, hiddenSize, config.mlpBias);
    linear(`${at}mlp.up_proj`, intermediateSize, hiddenSize, config.mlpBias);
    linear(`${at}mlp.down_proj`, hiddenSize, intermediateSize, config.mlpBias);
  }
  shapes.set('model.norm.weight', [hiddenSize]);
  if (!config.tieWordEmbeddings) shapes.set('lm_head.weight', [vocabSize, hiddenSize]);
  return shapes;
}
