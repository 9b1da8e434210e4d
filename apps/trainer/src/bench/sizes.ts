import { loraModules, weightShapes, type LlamaConfig } from '@hindcast/language-model';

export const SIZES = ['0.77M', '3.5M', '11M', 'lora-0.6B'] as const;
export type SizeName = (typeof SIZES)[number];

/** A model and a batch to step on. */
export interface Size {
  readonly name: SizeName;
  readonly config: LlamaConfig;
  /** B: samples of a step. */
  readonly samples: number;
  /** T: positions of each. */
  readonly length: number;
  /** Rank of the adapter on all seven modules; `null` when every weight is trained. */
  readonly rank: number | null;
  /** Steps of one engine in one round. */
  readonly steps: number;
}

const decoder = (over: Partial<LlamaConfig>): LlamaConfig => ({
  architecture: 'llama',
  vocabSize: 2048,
  hiddenSize: 256,
  layers: 4,
  heads: 4,
  kvHeads: 2,
  headDim: 64,
  intermediateSize: 704,
  rmsNormEps: 1e-5,
  ropeTheta: 10_000,
  tieWordEmbeddings: true,
  maxPositions: 1024,
  bosTokenId: null,
  eosTokenIds: [],
  padTokenId: null,
  attentionBias: false,
  attentionOutputBias: false,
  mlpBias: false,
  queryKeyNorm: false,
  ...over,
});

const TABLE: Readonly<Record<SizeName, Omit<Size, 'name'>>> = {
  '0.77M': {
    config: decoder({ vocabSize: 256, hiddenSize: 128, headDim: 32, intermediateSize: 352 }),
    samples: 16,
    length: 128,
    rank: null,
    steps: 6,
  },
  '3.5M': { config: decoder({}), samples: 8, length: 256, rank: null, steps: 3 },
  '11M': {
    config: decoder({ vocabSize: 4096, hiddenSize: 320, layers: 8, heads: 5, kvHeads: 5, intermediateSize: 864 }),
    samples: 8,
    length: 128,
    rank: null,
    steps: 3,
  },
  'lora-0.6B': {
    // The shape of Qwen3-0.6B.
    config: decoder({
      architecture: 'qwen3',
      vocabSize: 151_936,
      hiddenSize: 1024,
      layers: 28,
      heads: 16,
      kvHeads: 8,
      headDim: 128,
      intermediateSize: 3072,
      rmsNormEps: 1e-6,
      ropeTheta: 1_000_000,
      queryKeyNorm: true,
    }),
    samples: 1,
    length: 512,
    rank: 16,
    steps: 1,
  },
};

/** @param layers other than the size's own number of layers, for a quick look */
export function sizeOf(name: SizeName, layers?: number): Size {
  const size = TABLE[name];
  return { name, ...size, config: { ...size.config, layers: layers ?? size.config.layers } };
}

/** Ids of a sample's prompt: a quarter of its positions; one id more than the rest is its answer. */
export const promptLength = ({ length }: Size): number => length / 4;

/** A matrix product of a step, and how often it is made. */
export interface Product {
  /** So many at once of `[rows, inner] · [inner, columns]`. */
  readonly batch: number;
  readonly rows: number;
  readonly inner: number;
  readonly columns: number;
  readonly count: number;
}

/**
 * The matrix products that a step cannot do without: forward, and backward to the rows and, where weights are trained, to
 * the weights. What comes after the last layer's attention is needed only where an answer is predicted. Attention counts in full, the
 * half above the diagonal too. Neither recomputation nor an embedding's gradient counts.
 */
export function productsOf(size: Size): Product[] {
  const { config, samples, length, rank } = size;
  const predicting = samples * (length + 1 - promptLength(size));
  const products: Product[] = [];
  for (const [name, shape] of weightShapes(config)) {
    if (shape.length !== 2 || (name === 'model.embed_tokens.weight' && !config.tieWordEmbeddings)) continue;
    const [out, into] = shape as [number, number];
    const rows = comesAfterLastAttention(name, config) ? predicting : samples * length;
    products.push(
      { batch: 1, rows, inner: into, columns: out, count: 1 },
      { batch: 1, rows, inner: out, columns: into, count: 1 },
    );
    if (rank === null) products.push({ batch: 1, rows: out, inner: rows, columns: into, count: 1 });
    else if (loraModules.some((module) => name.endsWith(`${module}.weight`))) {
      products.push(
        { batch: 1, rows, inner: into, columns: rank, count: 3 },
        { batch: 1, rows, inner: rank, columns: out, count: 3 },
      );
    }
  }
  const { layers, heads, kvHeads, headDim } = config;
  // Query heads that share a key head are rows of one product.
  const attention = { batch: samples * kvHeads, rows: (heads / kvHeads) * length, count: 3 * layers };
  products.push({ ...attention, inner: headDim, columns: length }, { ...attention, inner: length, columns: headDim });
  return merged(products);
}

function comesAfterLastAttention(name: string, { layers }: LlamaConfig): boolean {
  const last = `model.layers.${layers - 1}.`;
  return !name.startsWith('model.layers.') || (name.startsWith(last) && !/\.[qkv]_proj\./.test(name));
}

export const flopsOf = (products: readonly Product[]): number =>
  products.reduce((sum, { batch, rows, inner, columns, count }) => sum + 2 * batch * rows * inner * columns * count, 0);

function merged(products: readonly Product[]): Product[] {
  const bySize = new Map<string, Product>();
  for (const product of products) {
    const key = `${product.batch}·${product.rows}·${product.inner}·${product.columns}`;
    bySize.set(key, { ...product, count: product.count + (bySize.get(key)?.count ?? 0) });
  }
  return [...bySize.values()];
}
