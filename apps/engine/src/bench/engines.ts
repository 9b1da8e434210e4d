import { mulberry32, type HostTensor, type LlamaConfig } from '@hindcast/language-model';
import { drawer } from '../core/draw';
import { ForwardPass } from '../forward-pass';
import { Scheduler } from '../scheduler';

/** What is measured: `batch` answers of `tokens` sampled tokens at once, each behind `promptOf(i)`. */
export interface Workload {
  readonly batch: number;
  readonly tokens: number;
}

/** A loaded model that samples at temperature 1 from the whole vocabulary. */
export interface BenchedEngine {
  /** Generated tokens per second of wall time, prompts read meanwhile. */
  tokensPerSecond(workload: Workload): Promise<number>;
  /** Probability of every token behind `promptOf(0)`. */
  firstProbabilities(): Promise<Float64Array>;
  close(): Promise<void>;
}

const PROMPT_TOKENS = 8;

/** A prompt of ordinary tokens that differs from answer to answer. */
export function promptOf(answer: number): number[] {
  return Array.from({ length: PROMPT_TOKENS }, (_, i) => 300 + 7 * i + answer);
}

/**
 * The engine from its scheduler on: what lies above it is HTTP, JSON and text. Each token is drawn, and given out with its id,
 * log-prob and rank.
 */
export async function hindcast(
  config: LlamaConfig,
  weights: ReadonlyMap<string, HostTensor>,
  threads: number,
): Promise<BenchedEngine> {
  const forward = await ForwardPass.create(config, weights, threads);
  const answer = (scheduler: Scheduler, index: number, tokens: number): Promise<unknown> =>
    new Promise((resolve, reject) => {
      scheduler.submit({
        weights: forward,
        promptIds: promptOf(index),
        promptTop: null,
        top: 0,
        maxTokens: tokens,
        sample: drawer({ temperature: 1, topP: 1, topK: 0, seed: index }, mulberry32(index)),
        onToken: () => false,
        onDone: resolve,
        onError: reject,
      });
    });
  return {
    async tokensPerSecond({ batch, tokens }) {
      const scheduler = new Scheduler(batch);
      const started = performance.now();
      await Promise.all(Array.from({ length: batch }, (_, i) => answer(scheduler, i, tokens)));
      return (batch * tokens * 1000) / (performance.now() - started);
    },
    async firstProbabilities() {
      const { logProbs } = await forward.read([{ ids: promptOf(0), picked: 'last' }]);
      return Float64Array.from(logProbs[0]!, Math.exp);
    },
    close: () => forward.release(),
  };
}
