import * as tf from '@tensorflow/tfjs';
import { initLora } from './lora';
import { ids, largestDifference, madeWeights, smallConfig, toTensors } from './testing/models';
import { tokenLogProbs, tokenLogProbsAndEntropies } from './token-log-probs';
import { forwardCached, forwardHidden, logits, type LayerCache } from './transformer';

beforeAll(() => tf.setBackend('cpu'));

describe('padding, positions and cache', () => {
  const config = smallConfig;
  const tokens = [7, 0, 22, 7, 3, 19];
  let weights: Record<string, tf.Tensor>;
  let expected: Float32Array;
  beforeAll(() => {
    weights = toTensors(madeWeights(config));
    expected = forwardHidden(config, weights, ids([tokens])).dataSync<'float32'>();
  });
  const rowsOf = (hidden: tf.Tensor3D, from: number, count: number) =>
    hidden.slice([0, from, 0], [1, count, -1]).dataSync();

  it.each([
    { side: 'right', row: [...tokens, 1, 2, 9], mask: [1, 1, 1, 1, 1, 1, 0, 0, 0], from: 0 },
    { side: 'left', row: [1, 2, 9, ...tokens], mask: [0, 0, 0, 1, 1, 1, 1, 1, 1], from: 3 },
  ])('ignores padding on the $side', ({ row, mask, from }) => {
    const hidden = forwardHidden(config, weights, ids([row, row]), { attentionMask: ids([mask, mask.map(() => 1)]) });
    expect(largestDifference(rowsOf(hidden, from, tokens.length), expected)).toBeLessThan(1e-5);
    expect(hidden.dataSync().every(Number.isFinite)).toBe(true);
  });

  it('lets no gradient out of padding', () => {
    const row = [1, 2, ...tokens];
    const attentionMask = ids([[0, 0, 1, 1, 1, 1, 1, 1]]);
    const gradient = tf.grad((embeddings) => {
      const all = { ...weights, 'model.embed_tokens.weight': embeddings };
      const logProbs = tokenLogProbs(config, all, ids([row]), ids([[...row.slice(1), 0]]), { attentionMask });
      return tf.sum(tf.mul(logProbs, tf.cast(attentionMask, 'float32')));
    })(weights['model.embed_tokens.weight'] as tf.Tensor);
    const perToken = tf.sum(tf.abs(gradient), 1).dataSync();
    expect([perToken[1], perToken[2]]).toEqual([0, 0]);
    for (const token of tokens) expect(perToken[token]).toBeGreaterThan(0);
  });

  it('depends on distances between positions only', () => {
    const positions = ids([tokens.map((_, i) => i + 40)]);
    const hidden = forwardHidden(config, weights, ids([tokens]), { positions });
    expect(largestDifference(hidden.dataSync(), expected)).toBeLessThan(1e-5);
    const stretched = forwardHidden(config, weights, ids([tokens]), { positions: ids([tokens.map((_, i) => 2 * i)]) });
    expect(largestDifference(stretched.dataSync(), expected)).toBeGreaterThan(1e-3);
  });

  it('sees no later token', () => {
    const hidden = forwardHidden(config, weights, ids([[...tokens.slice(0, 3), 1, 1, 1]]));
    expect(largestDifference(rowsOf(hidden, 0, 3), expected.slice(0, 3 * config.hiddenSize))).toBeLessThan(1e-6);
  });

  it('continues from a cache, unused places masked, as if it had read all at once', () => {
    const empty: LayerCache[] = Array.from({ length: config.layers }, () => ({
      keys: tf.zeros([1, config.kvHeads, 0, config.headDim]),
      values: tf.zeros([1, config.kvHeads, 0, config.headDim]),
    }));
    const first = forwardCached(config, weights, ids([tokens.slice(0, 4)]), empty);
    // A cache of six places with four in use.
    const widen = (x: tf.Tensor4D): tf.Tensor4D =>
      tf.concat([x, tf.fill([1, config.kvHeads, 2, config.headDim], 3)], 2);
    const past = first.added.map(({ keys, values }) => ({ keys: widen(keys), values: widen(values) }));
    const { hidden, added } = forwardCached(config, weights, ids([tokens.slice(4)]), past, {
      positions: ids([[4, 5]]),
      attentionMask: ids([[1, 1, 1, 1, 0, 0, 1, 1]]),
    });
    expect(largestDifference(first.hidden.dataSync(), expected.slice(0, 4 * config.hiddenSize))).toBeLessThan(1e-5);
    expect(largestDifference(hidden.dataSync(), expected.slice(4 * config.hiddenSize))).toBeLessThan(1e-5);
    expect(added[1]?.keys.shape).toEqual([1, config.kvHeads, 2, config.headDim]);
  });

  it('refuses a missing weight, a mask of the wrong width and a cache of the wrong depth', () => {
    const { 'model.norm.weight': _, ...incomplete } = weights;
    expect(() => forwardHidden(config, incomplete, ids([tokens]))).toThrow('weight model.norm.weight is missing');
    expect(() => forwardHidden(config, weights, ids([tokens]), { attentionMask: ids([[1, 1]]) })).toThrow(
      '2 columns for 6 keys',
    );
    expect(() => forwardCached(config, weights, ids([tokens]), [])).toThrow('cache of 0 layers for a model of 2');
  });
});

const adapted = 'base_model.model.model.layers.0.mlp.up_proj.lora_A.weight';
const operations =
  'Add BatchMatMul Cast ClipByValue Concat Exp ExpandDims GatherV2 Greater GreaterEqual Identity LessEqual Log LogicalAnd Max Mean Minimum Multiply Neg OneHot Pow RealDiv Reshape Rsqrt Select Sigmoid Softmax SplitV Sqrt Square Sub Sum Transpose UnsortedSegmentSum ZerosLike'.split(
    ' ',
  );

describe('log-probs', () => {
  const config = smallConfig;
  const tokens = ids([
    [7, 0, 22, 7, 3],
    [19, 11, 5, 5, 14],
  ]);
  const targets = ids([
    [0, 22, 7, 3, 1],
    [11, 5, 5, 14, 2],
  ]);
  let weights: Record<string, tf.Tensor>;
  beforeAll(() => {
    weights = toTensors(madeWeights(config));
  });
  const trainable = [
    'model.embed_tokens.weight',
    'lm_head.weight',
    'model.layers.0.self_attn.k_proj.weight',
    'model.layers.1.mlp.up_proj.weight',
  ];

  /** Values and gradients of a weighted sum of log-probs and entropies; by the library, or by tfjs' own log-softmax. */
  function gradients(logitChunk: number | 'plain'): { values: Float32Array; grads: Float32Array[] } {
    let values = new Float32Array();
    const loss = (...changed: tf.Tensor[]): tf.Scalar => {
      const all = { ...weights, ...Object.fromEntries(trainable.map((name, i) => [name, changed[i] as tf.Tensor])) };
      let logProbs: tf.Tensor;
      let entropies: tf.Tensor;
      if (logitChunk === 'plain') {
        const table = tf.logSoftmax(logits(config, all, forwardHidden(config, all, tokens)));
        logProbs = tf.sum(tf.mul(table, tf.oneHot(targets, config.vocabSize)), -1);
        entropies = tf.neg(tf.sum(tf.mul(table, tf.exp(table)), -1));
      } else {
        ({ logProbs, entropies } = tokenLogProbsAndEntropies(config, all, tokens, targets, { logitChunk }));
      }
      values = Float32Array.from([...logProbs.dataSync(), ...entropies.dataSync()]);
      const share = tf.tensor2d([1, -2, 0.5, 0, 1, 1, 3, -1, 0.25, 2], [2, 5]);
      return tf.add(tf.sum(tf.mul(logProbs, share)), tf.mul(0.7, tf.sum(tf.mul(entropies, share))));
    };
    const grads = tf.grads(loss)(trainable.map((name) => weights[name] as tf.Tensor));
    return { values, grads: grads.map((grad) => grad.dataSync<'float32'>()) };
  }

  it.each([2 ** 24, 3 * smallConfig.vocabSize, 1])(
    'has the values and gradients of a plain log-softmax, with at most %d logits at once',
    (logitChunk) => {
      const plain = gradients('plain');
      const ours = gradients(logitChunk);
      expect(largestDifference(ours.values, plain.values)).toBeLessThan(1e-5);
      for (const [i, grad] of ours.grads.entries())
        expect(largestDifference(grad, plain.grads[i] as Float32Array)).toBeLessThan(2e-5);
    },
  );

  it('gives the log-probs alone the same numbers', () => {
    const both = tokenLogProbsAndEntropies(config, weights, tokens, targets);
    expect(tokenLogProbs(config, weights, tokens, targets).arraySync()).toEqual(both.logProbs.arraySync());
  });

  it('and its gradients use only operations that every backend and the recorder have', async () => {
    const lora = { weights: toTensors(initLora(config, { rank: 2, alpha: 2, seed: 1 })), scale: 1 };
    const attentionMask = ids([
      [1, 1, 1, 1, 1],
      [0, 1, 1, 1, 1],
    ]);
    const names = Object.keys(weights);
    const profile = await tf.profile(() => {
      const scores = logits(config, weights, forwardHidden(config, weights, tokens, { positions: tokens }));
      const full = tf.grads((...all) => {
        const changed = Object.fromEntries(names.map((name, i) => [name, all[i] as tf.Tensor]));
        return tf.sum(tokenLogProbs(config, changed, tokens, targets, { logitChunk: 60 }));
      })(names.map((name) => weights[name] as tf.Tensor));
      const adapter = tf.grad((a) => {
        const changed = { ...lora, weights: { ...lora.weights, [adapted]: a } };
        const { logProbs, entropies } = tokenLogProbsAndEntropies(config, weights, tokens, targets, {
          lora: changed,
          attentionMask,
        });
        return tf.sum(tf.add(logProbs, entropies));
      })(lora.weights[adapted] as tf.Tensor);
      return [scores, ...full, adapter];
    });
    const used = [...new Set(profile.kernels.map(({ name }) => name))];
    // tfjs names a custom gradient's scope like a kernel.
    expect(used.filter((name) => !operations.includes(name) && name !== 'unnamed scope')).toEqual([]);
  });

  it('leaves no tensor behind', () => {
    const before = tf.memory().numTensors;
    tokenLogProbs(config, weights, tokens, targets, { logitChunk: 60 }).dispose();
    expect(tf.memory().numTensors).toBe(before);
  });
});
