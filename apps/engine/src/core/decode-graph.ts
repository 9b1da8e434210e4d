import type { HostTensor, LlamaConfig } from '@hindcast/language-model';
import { OnnxGraph, type OnnxValue } from '@hindcast/tfjs-onnx';

/** Names of the graph's inputs and outputs; `keys(l)` and the others are one per layer. */
export const graphNames = {
  tokens: 'tokens',
  cos: 'cos',
  sin: 'sin',
  pastMask: 'past_mask',
  ownMask: 'own_mask',
  picked: 'picked',
  pastKeys: (layer: number) => `past_keys.${layer}`,
  pastValues: (layer: number) => `past_values.${layer}`,
  keys: (layer: number) => `keys.${layer}`,
  values: (layer: number) => `values.${layer}`,
  logProbs: 'log_probs',
} as const;

/** Past every position that the ONNX operator Slice can be asked for: "to the end". */
const END = 2 ** 31 - 1;

/**
 * The forward pass of a LLaMA-family decoder with a key/value cache, as one ONNX model with the weights inside.
 *
 * B rows of S new tokens each stand behind P cached positions. Rows of different lengths share a batch: `past_mask` is 0
 * where a cached position is real and very negative where it is padding, and `cos`/`sin` carry each row's own positions, so
 * padding has a weight of exactly 0. The cache goes in and only the new keys and values come out; the caller stores them, and
 * nothing of length P is copied.
 *
 * | input | shape | |
 * |---|---|---|
 * | `tokens` | int64 `[B, S]` | |
 * | `cos`, `sin` | `[B, 1, S, headDim / 2]` | rotation of each new position, with the scale of attention: see RotaryTable |
 * | `past_mask` | `[B, 1, 1, P]` | added to the scores of cached positions |
 * | `own_mask` | `[1, 1, G·S, S]` | added to the scores among the new tokens: causal, repeated G = heads / kvHeads times |
 * | `picked` | int64 `[N]` | which of the B·S new positions, row-major, get log-probabilities |
 * | `past_keys.l`, `past_values.l` | `[B, kvHeads, P, headDim]` | P ≥ 1 |
 * | output `keys.l`, `values.l` | `[B, kvHeads, S, headDim]` | |
 * | output `log_probs` | `[N, vocabSize]` | nats, of the token that follows |
 */
export function buildDecodeGraph(config: LlamaConfig, weights: ReadonlyMap<string, HostTensor>): Uint8Array {
  return new DecodeGraph(config, weights).build();
}

class DecodeGraph {
  private readonly graph = new OnnxGraph({ name: 'decode' });
  private readonly eps: OnnxValue;
  private readonly two: OnnxValue;

  constructor(
    private readonly config: LlamaConfig,
    private readonly weights: ReadonlyMap<string, HostTensor>,
  ) {
    this.eps = this.graph.float(config.rmsNormEps);
    this.two = this.graph.float(2);
  }

  build(): Uint8Array {
    const { graph, config } = this;
    const { layers, headDim, hiddenSize, vocabSize, tieWordEmbeddings } = config;
    const tokens = graph.input(graphNames.tokens, 'int64', ['B', 'S']);
    const rotation = {
      cos: graph.input(graphNames.cos, 'float32', ['B', 1, 'S', headDim / 2]),
      sin: graph.input(graphNames.sin, 'float32', ['B', 1, 'S', headDim / 2]),
    };
    const masks = {
      past: graph.input(graphNames.pastMask, 'float32', ['B', 1, 1, 'P']),
      own: graph.input(graphNames.ownMask, 'float32', [1, 1, 'R', 'S']),
    };
    const picked = graph.input(graphNames.picked, 'int64', ['N']);
    const embedding = this.weight('model.embed_tokens.weight', [vocabSize, hiddenSize]);
    let hidden = graph.op('Gather', [embedding, tokens], { axis: 0 });
    for (let layer = 0; layer < layers; layer++) {
      hidden = graph.op('Add', [hidden, this.attention(layer, hidden, rotation, masks)]);
      hidden = graph.op('Add', [hidden, this.feedForward(layer, hidden)]);
    }
    const rows = graph.op('Gather', [graph.op('Reshape', [hidden, graph.int64(-1, hiddenSize)]), picked], { axis: 0 });
    const output = tieWordEmbeddings ? embedding : this.weight('lm_head.weight', [vocabSize, hiddenSize]);
    const normed = this.rmsNorm(rows, 'model.norm.weight', hiddenSize);
    const logits = graph.op('MatMul', [normed, graph.op('Transpose', [output], { perm: [1, 0] })]);
    const logProbs = graph.op('LogSoftmax', [logits], { axis: -1 }, graphNames.logProbs);
    graph.output(graphNames.logProbs, logProbs, 'float32', ['N', vocabSize]);
    return graph.toBytes();
  }

  private attention(
    layer: number,
    hidden: OnnxValue,
    rotation: { cos: OnnxValue; sin: OnnxValue },
    masks: { past: OnnxValue; own: OnnxValue },
  ): OnnxValue {
    const { graph, config } = this;
    const { heads, kvHeads, headDim, hiddenSize } = config;
    const prefix = `model.layers.${layer}`;
    const cache = ['B', kvHeads, 'P', headDim];
    const pastKeys = graph.input(graphNames.pastKeys(layer), 'float32', cache);
    const pastValues = graph.input(graphNames.pastValues(layer), 'float32', cache);
    const input = this.rmsNorm(hidden, `${prefix}.input_layernorm.weight`, hiddenSize);
    const { queries, keys, values } = this.project(`${prefix}.self_attn`, input, rotation);
    graph.output(graphNames.keys(layer), keys, 'float32', ['B', kvHeads, 'S', headDim]);
    graph.output(graphNames.values(layer), values, 'float32', ['B', kvHeads, 'S', headDim]);

    // The G query heads of one key/value head become rows of one product: [B, kvHeads, G·S, headDim].
    const grouped = graph.op('Reshape', [queries, graph.int64(0, kvHeads, -1, headDim)]);
    const scores = graph.op(
      'Concat',
      [this.scores(grouped, pastKeys, masks.past), this.scores(grouped, keys, masks.own)],
      {
        axis: -1,
      },
    );
    const attention = graph.op('Softmax', [scores], { axis: -1 });
    const pastLength = graph.op('Shape', [masks.past], { start: 3 });
    const lastAxis = graph.int64(3);
    const toPast = graph.op('Slice', [attention, graph.int64(0), pastLength, lastAxis]);
    const toOwn = graph.op('Slice', [attention, pastLength, graph.int64(END), lastAxis]);
    const mixed = graph.op('Add', [graph.op('MatMul', [toPast, pastValues]), graph.op('MatMul', [toOwn, values])]);
    const ungrouped = graph.op('Reshape', [mixed, graph.int64(0, heads, -1, headDim)]);
    const merged = graph.op('Reshape', [
      graph.op('Transpose', [ungrouped], { perm: [0, 2, 1, 3] }),
      graph.int64(0, 0, heads * headDim),
    ]);
    const bias = config.attentionOutputBias;
    return this.linear(`${prefix}.self_attn.o_proj`, merged, heads * headDim, hiddenSize, bias);
  }

  private scores(queries: OnnxValue, keys: OnnxValue, mask: OnnxValue): OnnxValue {
    const product = this.graph.op('MatMul', [queries, this.graph.op('Transpose', [keys], { perm: [0, 1, 3, 2] })]);
    return this.graph.op('Add', [product, mask]);
  }

  /** Queries, keys and values by head, `[B, heads or kvHeads, S, headDim]`: one product, and one rotation for queries and keys. */
  private project(
    prefix: string,
    input: OnnxValue,
    rotation: { cos: OnnxValue; sin: OnnxValue },
  ): { queries: OnnxValue; keys: OnnxValue; values: OnnxValue } {
    const { graph, config } = this;
    const { heads, kvHeads, headDim, hiddenSize, queryKeyNorm } = config;
    const sizes = { q: heads * headDim, k: kvHeads * headDim, v: kvHeads * headDim };
    const parts = Object.entries(sizes).map(([part, outputs]) => ({ name: `${prefix}.${part}_proj`, outputs }));
    const flat = this.linears(parts, input, hiddenSize, config.attentionBias);
    const split = graph.op('Reshape', [flat, graph.int64(0, 0, heads + 2 * kvHeads, headDim)]);
    const byHead = graph.op('Transpose', [split], { perm: [0, 2, 1, 3] });
    let turned: OnnxValue;
    let values: OnnxValue;
    if (queryKeyNorm) {
      const [q, k, v] = this.split(byHead, 1, heads, kvHeads, kvHeads) as [OnnxValue, OnnxValue, OnnxValue];
      const normed = [
        this.rmsNorm(q, `${prefix}.q_norm.weight`, headDim),
        this.rmsNorm(k, `${prefix}.k_norm.weight`, headDim),
      ];
      turned = graph.op('Concat', normed, { axis: 1 });
      values = v;
    } else [turned, values] = this.split(byHead, 1, heads + kvHeads, kvHeads) as [OnnxValue, OnnxValue];
    const [queries, keys] = this.split(this.rotate(turned, rotation), 1, heads, kvHeads) as [OnnxValue, OnnxValue];
    return { queries, keys, values };
  }

  /** Rotary position embedding over the two halves of a head (the Hugging Face layout). */
  private rotate(heads: OnnxValue, { cos, sin }: { cos: OnnxValue; sin: OnnxValue }): OnnxValue {
    const { graph } = this;
    const half = this.config.headDim / 2;
    const [a, b] = this.split(heads, -1, half, half) as [OnnxValue, OnnxValue];
    const first = graph.op('Sub', [graph.op('Mul', [a, cos]), graph.op('Mul', [b, sin])]);
    const second = graph.op('Add', [graph.op('Mul', [b, cos]), graph.op('Mul', [a, sin])]);
    return graph.op('Concat', [first, second], { axis: -1 });
  }

  private feedForward(layer: number, hidden: OnnxValue): OnnxValue {
    const { graph, config } = this;
    const { hiddenSize, intermediateSize, mlpBias } = config;
    const prefix = `model.layers.${layer}`;
    const input = this.rmsNorm(hidden, `${prefix}.post_attention_layernorm.weight`, hiddenSize);
    const gate = this.linear(`${prefix}.mlp.gate_proj`, input, hiddenSize, intermediateSize, mlpBias);
    const up = this.linear(`${prefix}.mlp.up_proj`, input, hiddenSize, intermediateSize, mlpBias);
    const silu = graph.op('Mul', [gate, graph.op('Sigmoid', [gate])]);
    return this.linear(`${prefix}.mlp.down_proj`, graph.op('Mul', [silu, up]), intermediateSize, hiddenSize, mlpBias);
  }

  // Written with Pow and Div because onnxruntime recognises that form and runs it as one kernel.
  private rmsNorm(input: OnnxValue, name: string, size: number): OnnxValue {
    const { graph } = this;
    const square = graph.op('ReduceMean', [graph.op('Pow', [input, this.two])], { axes: [-1], keepdims: 1 });
    const root = graph.op('Sqrt', [graph.op('Add', [square, this.eps])]);
    return graph.op('Mul', [graph.op('Div', [input, root]), this.weight(name, [size])]);
  }

  private linear(name: string, input: OnnxValue, inputs: number, outputs: number, hasBias: boolean): OnnxValue {
    return this.linears([{ name, outputs }], input, inputs, hasBias);
  }

  /** Several projections of one input as one product; their outputs side by side. */
  private linears(
    parts: readonly { readonly name: string; readonly outputs: number }[],
    input: OnnxValue,
    inputs: number,
    hasBias: boolean,
  ): OnnxValue {
    const { graph } = this;
    const total = parts.reduce((sum, { outputs }) => sum + outputs, 0);
    const joined = (suffix: string, shape: readonly number[]): OnnxValue => {
      const data = parts.map(({ name, outputs }) => this.data(`${name}.${suffix}`, [outputs, ...shape]));
      return graph.constant(data.length === 1 ? data[0]! : concatenated(data), [total, ...shape]);
    };
    // Files hold [out, in]; onnxruntime transposes constants once, while the session is made.
    const matrix = graph.op('Transpose', [joined('weight', [inputs])], { perm: [1, 0] });
    const product = graph.op('MatMul', [input, matrix]);
    return hasBias ? graph.op('Add', [product, joined('bias', [])]) : product;
  }

  private split(value: OnnxValue, axis: number, ...sizes: number[]): OnnxValue[] {
    return this.graph.ops('Split', [value, this.graph.int64(...sizes)], sizes.length, { axis });
  }

  private weight(name: string, shape: readonly number[]): OnnxValue {
    return this.graph.constant(this.data(name, shape), shape, name);
  }

  private data(name: string, shape: readonly number[]): Float32Array {
    const tensor = this.weights.get(name);
    if (!tensor) throw new RangeError(`the model has no weight ${name}`);
    if (!(tensor.data instanceof Float32Array)) throw new RangeError(`weight ${name} is ${tensor.dtype}, not float32`);
    if (tensor.shape.join() !== shape.join())
      throw new RangeError(`weight ${name} has shape [${tensor.shape.join(', ')}], not [${shape.join(', ')}]`);
    return tensor.data;
  }
}

function concatenated(arrays: readonly Float32Array[]): Float32Array {
  const joined = new Float32Array(arrays.reduce((length, array) => length + array.length, 0));
  let at = 0;
  for (const array of arrays) {
    joined.set(array, at);
    at += array.length;
  }
  return joined;
}
