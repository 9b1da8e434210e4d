import type { LlamaConfig } from '@hindcast/language-model';

export const SIZES = ['1M', '10M'] as const;
export type SizeName = (typeof SIZES)[number];

type Shape = Pick<
  LlamaConfig,
  'vocabSize' | 'hiddenSize' | 'layers' | 'heads' | 'kvHeads' | 'headDim' | 'intermediateSize'
>;

const shapes: Record<SizeName, Shape> = {
  '1M': { vocabSize: 2048, hiddenSize: 128, layers: 4, heads: 4, kvHeads: 2, headDim: 32, intermediateSize: 352 },
  '10M': { vocabSize: 4096, hiddenSize: 320, layers: 8, heads: 5, kvHeads: 5, headDim: 64, intermediateSize: 864 },
};

/** A LLaMA with tied embeddings of about so many weights. */
export function configOf(name: SizeName): LlamaConfig {
  return {
    architecture: 'llama',
    ...shapes[name],
    rmsNormEps: 1e-5,
    ropeTheta: 10000,
    tieWordEmbeddings: true,
    maxPositions: 1024,
    bosTokenId: null,
    eosTokenIds: [],
    padTokenId: null,
    attentionBias: false,
    attentionOutputBias: false,
    mlpBias: false,
    queryKeyNorm: false,
  };
}
