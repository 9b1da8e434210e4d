import { mulberry32, type HostTensor, type LlamaConfig } from '@hindcast/language-model';
import { drawer } from '../core/draw';
import { ForwardPass } from '../forward-pass';
import { Scheduler } from '../scheduler';
import type { Speed } from './report';

/** What is measured: `batch` answers of `tokens` sampled tokens at once, each behind `promptOf(i)`. */
export interface Workload {
  readonly batch: number;
  readonly tokens: number;
}

/** A loaded model that samples at temperature 1 from the whole vocabulary. */
export interface BenchedEngine {
  /** Makes ready; the returned function generates the answers, prompts read first. */
  prepare(workload: Workload): Promise<{ run(): Promise<unknown>; end(): Promise<void> }>;
  /** Probability of every token behind `promptOf(0)`. */
  firstProbabilities(): Promise<Float64Array>;
  close(): Promise<void>;
}

/** One workload, from its first prompt to its last token. */
export async function speedOf(engine: BenchedEngine, workload: Workload): Promise<Speed> {
  const { run, end } = await engine.prepare(workload);
  try {
    const cpuBefore = process.cpuUsage();
    const started = performance.now();
    await run();
    const wallMs = performance.now() - started;
    const { user, system } = process.cpuUsage(cpuBefore);
    const tokens = workload.batch * workload.tokens;
    return { wall: (tokens * 1000) / wallMs, cpu: (tokens * 1e6) / (user + system) };
  } finally {
    await end();
  }
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
    prepare({ batch, tokens }) {
      const scheduler = new Scheduler(batch);
      const run = (): Promise<unknown> =>
        Promise.all(Array.from({ length: batch }, (_, i) => answer(scheduler, i, tokens)));
      return Promise.resolve({ run, end: () => Promise.resolve() });
    },
    async firstProbabilities() {
      const { logProbs } = await forward.read([{ ids: promptOf(0), picked: 'last' }]);
      return Float64Array.from(logProbs[0]!, Math.exp);
    },
    close: () => forward.release(),
  };
}
