import type { HostTensor, LlamaConfig } from '@hindcast/language-model';
import { InferenceSession, Tensor } from 'onnxruntime-node';
import { buildDecodeGraph, graphNames } from './core/decode-graph';
import { KvCache, type LayerArrays } from './core/kv-cache';
import { causalMask, paddingMask, MASKED } from './core/masks';
import { RotaryTable } from './core/rotary';

/** onnxruntime writes errors to stderr and throws them; once is enough. */
const FATAL_ONLY = 4;

/** The beginning of a sequence to read. */
export interface Opening {
  /** At least one. */
  readonly ids: readonly number[];
  /** Which log-probs are wanted: after the last token, or after every one. */
  readonly picked: 'last' | 'all';
}

/** What was read of several openings. */
export interface Reading {
  /** Per opening, its log-probabilities in nats: `[vocabSize]` or `[ids.length · vocabSize]`. */
  readonly logProbs: readonly Float32Array[];
  /** Stores the keys and values of opening i as a new last row of a cache. */
  keep(i: number, cache: KvCache): void;
}

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
      logSeverityLevel: FATAL_ONLY,
      // Spinning workers would take the core that the trainer is using between two steps.
      extra: { session: { intra_op: { allow_spinning: '0' } } },
    });
    return new ForwardPass(session, config, new RotaryTable(config));
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
    const { layers } = this.config;
    const { rows } = cache;
    const count = tokens.length / rows;
    cache.fit(count);
    const positions = picked === 'all' ? tokens.map((_, i) => i) : cache.lengths.map((_, row) => (row + 1) * count - 1);
    const outputs = await this.runGraph({
      tokens,
      rows,
      spans: cache.lengths.map((start) => ({ start, count })),
      blocks: [count],
      positions,
      capacity: cache.capacity,
      pastMask: paddingMask(cache.lengths, cache.capacity),
      past: Array.from({ length: layers }, (_, l) => ({ keys: cache.layerKeys(l), values: cache.layerValues(l) })),
    });
    outputs.layers.forEach(({ keys, values }, layer) => cache.store(layer, keys, values, count));
    cache.advance(count);
    return outputs.logProbs;
  }

  /** Reads the beginnings of several sequences in one run, one behind the other in a single row: none sees another. */
  async read(openings: readonly Opening[]): Promise<Reading> {
    const { layers, kvHeads, headDim, vocabSize } = this.config;
    const counts = openings.map(({ ids }) => ids.length);
    const starts = counts.map((_, i) => counts.slice(0, i).reduce((sum, count) => sum + count, 0));
    const picks = openings.map(({ picked }, i) => (picked === 'all' ? counts[i]! : 1));
    const tokens = openings.flatMap(({ ids }) => ids);
    // The graph wants at least one cached position; this one is masked.
    const nothing = new Float32Array(kvHeads * headDim);
    const outputs = await this.runGraph({
      tokens,
      rows: 1,
      spans: counts.map((count) => ({ start: 0, count })),
      blocks: counts,
      positions: picks.flatMap((count, i) =>
        Array.from({ length: count }, (_, p) => starts[i]! + counts[i]! - count + p),
      ),
      capacity: 1,
      pastMask: Float32Array.of(MASKED),
      past: Array.from({ length: layers }, () => ({ keys: nothing, values: nothing })),
    });
    let at = 0;
    const logProbs = picks.map((count) => outputs.logProbs.subarray(at, (at += count * vocabSize)));
    return {
      logProbs,
      keep: (i, cache) => void cache.addStored(outputs.layers, tokens.length, starts[i]!, counts[i]!),
    };
  }

  async release(): Promise<void> {
    await this.session.release();
  }

  private async runGraph(call: GraphCall): Promise<{ logProbs: Float32Array; layers: LayerArrays[] }> {
    const { layers, heads, kvHeads, headDim } = this.config;
    const { rows, tokens, capacity, positions } = call;
    const count = tokens.length / rows;
    const { cos, sin } = this.rotary.rows(call.spans);
    const groups = heads / kvHeads;
    const rotationShape = [rows, 1, count, headDim / 2];
    const cacheShape = [rows, kvHeads, capacity, headDim];
    const feeds: Record<string, Tensor> = {
      [graphNames.tokens]: int64Tensor(tokens, [rows, count]),
      [graphNames.cos]: new Tensor('float32', cos, rotationShape),
      [graphNames.sin]: new Tensor('float32', sin, rotationShape),
      [graphNames.pastMask]: new Tensor('float32', call.pastMask, [rows, 1, 1, capacity]),
      [graphNames.ownMask]: new Tensor('float32', causalMask(call.blocks, groups), [1, 1, groups * count, count]),
      [graphNames.picked]: int64Tensor(positions, [positions.length]),
    };
    call.past.forEach(({ keys, values }, layer) => {
      feeds[graphNames.pastKeys(layer)] = new Tensor('float32', keys, cacheShape);
      feeds[graphNames.pastValues(layer)] = new Tensor('float32', values, cacheShape);
    });
    const outputs = await this.session.run(feeds, { logSeverityLevel: FATAL_ONLY });
    return {
      logProbs: floats(outputs, graphNames.logProbs),
      layers: Array.from({ length: layers }, (_, layer) => ({
        keys: floats(outputs, graphNames.keys(layer)),
        values: floats(outputs, graphNames.values(layer)),
      })),
    };
  }
}

interface GraphCall {
  /** Row-major `[rows, S]`. */
  readonly tokens: readonly number[];
  readonly rows: number;
  /** The positions of the new tokens in their sequences, in the tokens' order. */
  readonly spans: readonly { readonly start: number; readonly count: number }[];
  /** Sequences that a row's new tokens belong to, by length, one behind the other. */
  readonly blocks: readonly number[];
  /** Which of the new tokens get log-probs. */
  readonly positions: readonly number[];
  readonly capacity: number;
  readonly pastMask: Float32Array;
  readonly past: readonly LayerArrays[];
}

function floats(outputs: InferenceSession.OnnxValueMapType, name: string): Float32Array {
  const value = outputs[name];
  if (!(value?.data instanceof Float32Array)) throw new TypeError(`the graph gave no ${name}`);
  return value.data;
}

function int64Tensor(values: readonly number[], shape: readonly number[]): Tensor {
  const data = new BigInt64Array(values.length);
  for (let i = 0; i < values.length; i++) data[i] = BigInt(values[i]!);
  return new Tensor('int64', data, shape);
}
