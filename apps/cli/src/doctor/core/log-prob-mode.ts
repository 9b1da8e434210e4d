import { fault, ok, skipped, warning, type Finding } from './finding';

/** Two computations of one log-prob on a GPU in 16 bits differ by less than this in the mean, nats. */
const NOISE = 0.15;
/** Closer to 0 than this is a certain token. */
const CERTAIN = 1e-6;
/** Below this the model itself was far from certain. */
const UNCERTAIN = -1e-2;

export interface LogProbLook {
  /** As the engine reported them for an answer at temperature 1, top-p 1. */
  readonly sampled: readonly number[];
  /** The same ids, scored by the same engine as a prompt; `null` where it cannot. */
  readonly scored: readonly number[] | null;
  /** As reported for the most likely tokens, asked for by top-k 1; `null` where that was refused. */
  readonly greedy: readonly number[] | null;
  readonly greedyScored: readonly number[] | null;
}

/** Whether the reported log-probs are those of the policy that is trained: of plain sampling, before any processing. */
export function logProbModeFinding(check: string, look: LogProbLook, offPolicy: 'drop' | 'train'): Finding {
  const { sampled, scored, greedy, greedyScored } = look;
  if (scored === null) return skipped(check, 'not compared: the engine does not score given ids');
  const gap = meanGap(sampled, scored);
  if (gap > NOISE)
    return fault(
      check,
      `not those of plain sampling: at temperature 1 they differ from the model's own by ${gap.toFixed(2)} nats in the mean`,
      'Start the engine so that it reports them before any processing (vLLM: --logprobs-mode raw_logprobs; no --override-generation-config, logits processors or speculative decoding that change them).',
    );
  if (greedy !== null && greedyScored !== null && isProcessed(greedy, greedyScored)) {
    const found = 'processed: taken after top-k and temperature; equal to the model’s own at temperature 1 and top-p 1';
    const mend = 'Start vLLM with --logprobs-mode raw_logprobs (or without the option)';
    return offPolicy === 'train'
      ? fault(check, found, `${mend}, or set OFF_POLICY=drop.`)
      : warning(check, found, `${mend}; with OFF_POLICY=drop, as here, what is trained is right all the same.`);
  }
  return ok(check, `those of plain sampling (${gap.toFixed(3)} nats from scoring the same ids)`);
}

/** With top-k 1 processing leaves one token, of probability 1, whatever the model thought of it. */
const isProcessed = (reported: readonly number[], scored: readonly number[]): boolean =>
  reported.every((value) => value > -CERTAIN) && scored.some((value) => value < UNCERTAIN);

const meanGap = (a: readonly number[], b: readonly number[]): number =>
  a.reduce((sum, value, t) => sum + Math.abs(value - b[t]!), 0) / Math.max(1, a.length);
