import type { HostTensor, LlamaConfig } from '@hindcast/language-model';
import { InferenceSession, Tensor } from 'onnxruntime-node';
import { buildDecodeGraph, graphNames } from './core/decode-graph';
import { KvCache } from './core/kv-cache';
import { RotaryTable } from './core/rotary';

/** Added to a masked score; e to this power is exactly 0 in float32, whatever finite number stands in the padding. */
const MASKED = -1e9;

/** One set of weights, ready to run on the CPU. A run blocks the event loop for its duration and lets it turn before. */
export class ForwardPass {
  private constructor(
    private readonly session: InferenceSession,
    readonly config: LlamaConfig,
    private readonly rotary: RotaryTable,
  ) {}

  /** Throws a RangeError when a weight is missing or has the wrong shape. `threads` are onnxruntime's own. */
  static async create(
    config: LlamaConfig,
    weights: ReadonlyMap<string, HostTensor>,
    threads: number,
  ): Promise<ForwardPass> {
    const session = await InferenceSession.create(buildDecodeGraph(config, weights), {
      executionProviders: ['cpu'],
      intraOpNumThreads: threads,
      interOpNumThreads: 1,
      graphOptimizationLevel: 'all',
      // Spinning workers would take the core that the trainer is using between two steps.
      extra: { session: { intra_op: { allow_spinning: '0' } } },
    });
    return new ForwardPass(session, config, new RotaryTable(config.maxPositions, config.headDim, config.ropeTheta));
  }

  newCache(): KvCache {
    const { layers, kvHeads, headDim } = this.config;
    return new KvCache({ layers, kvHeads, headDim });
  }

  /**
   * Runs S new tokens behind every row of the cache and stores their keys and values.
   *
   * @param tokens row-major `[cache.rows, S]`
   * @param picked `last`: log-probs after each row's last token, `[rows, vocabSize]`; `all`: after every token, `[rows · S, vocabSize]`
   * @returns log-probabilities in nats, row-major
   */
  async run(cache: KvCache, tokens: readonly number[], picked: 'last' | 'all'): Promise<Float32Array> {
    const { config } = this;
    const { rows } = cache;
    const count = tokens.length / rows;
    cache.fit(count);
    const { cos, sin } = this.rotary.rows(cache.lengths, count);
    const rotationShape = [rows, 1, count, config.headDim / 2];
    const cacheShape = [rows, config.kvHeads, cache.capacity, config.headDim];
    const groups = config.heads / config.kvHeads;
    const positions = picked === 'all' ? tokens.map((_, i) => i) : cache.lengths.map((_, row) => (row + 1) * count - 1);
    const feeds: Record<string, Tensor> = {
      [graphNames.tokens]: int64Tensor(tokens, [rows, count]),
      [graphNames.cos]: new Tensor('float32', cos, rotationShape),
      [graphNames.sin]: new Tensor('float32', sin, rotationShape),
      [graphNames.pastMask]: new Tensor('float32', pastMask(cache), [rows, 1, 1, cache.capacity]),
      [graphNames.ownMask]: new Tensor('float32', causalMask(count, groups), [1, 1, groups * count, count]),
      [graphNames.picked]: int64Tensor(positions, [positions.length]),
    };
    for (let layer = 0; layer < config.layers; layer++) {
      feeds[graphNames.pastKeys(layer)] = new Tensor('float32', cache.layerKeys(layer), cacheShape);
      feeds[graphNames.pastValues(layer)] = new Tensor('float32', cache.layerValues(layer), cacheShape);
    }
    const outputs = await this.session.run(feeds);
    for (let layer = 0; layer < config.layers; layer++)
      cache.store(layer, floats(outputs, graphNames.keys(layer)), floats(outputs, graphNames.values(layer)), count);
    cache.advance(count);
    return floats(outputs, graphNames.logProbs);
  }

  async release(): Promise<void> {
    await this.session.release();
  }
}

function floats(outputs: InferenceSession.OnnxValueMapType, name: string): Float32Array {
  const value = outputs[name];
  if (!(value?.data instanceof Float32Array)) throw new TypeError(`the graph gave no ${name}`);
  return value.data;
}

function int64Tensor(values: readonly number[], shape: readonly number[]): Tensor {
  return new Tensor(
    'int64',
    BigInt64Array.from(values, (value) => BigInt(value)),
    shape,
  );
}

function pastMask(cache: KvCache): Float32Array {
  const mask = new Float32Array(cache.rows * cache.capacity);
  cache.lengths.forEach((length, row) => mask.fill(MASKED, row * cache.capacity + length, (row + 1) * cache.capacity));
  return mask;
}

/** `[groups · count, count]`: token i sees the tokens up to itself; the same for each query head of a group. */
function causalMask(count: number, groups: number): Float32Array {
  const mask = new Float32Array(groups * count * count);
  for (let group = 0; group < groups; group++)
    for (let i = 0; i < count; i++) {
      const start = (group * count + i) * count;
      mask.fill(MASKED, start + i + 1, start + count);
    }
  return mask;
}
