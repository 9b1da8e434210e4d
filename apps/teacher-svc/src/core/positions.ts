import type { TopK } from '@hindcast/contracts';
import { TeacherRefusal } from './teacher-refusal';

/** log π_T of the sampled ids, `[R]` float32, nats, and the K most likely ids at each position, when K > 0. */
export interface Scores {
  readonly logProbs: Float32Array;
  readonly topK: TopK | null;
}

/** vLLM clamps −∞ to this in its answers (vllm-project/vllm#11073); it is not a log-probability. */
const VLLM_MINUS_INFINITY = -9999;
/** A float32 log-softmax can exceed 0 by rounding. Nats. */
const ROUNDING = 1e-3;

/** What a teacher said of the R sampled ids, gathered position by position. Nothing is padded, shifted or defaulted. */
export class Positions {
  private readonly logProbs: Float32Array;
  private readonly topIds: Int32Array;
  private readonly topLogProbs: Float32Array;

  /**
   * @param responseIds `[R]` the ids that the policy sampled
   * @param k most likely ids wanted at each position; 0: none
   */
  constructor(
    private readonly responseIds: ArrayLike<number>,
    private readonly k: number,
  ) {
    this.logProbs = new Float32Array(responseIds.length);
    this.topIds = new Int32Array(responseIds.length * k);
    this.topLogProbs = new Float32Array(responseIds.length * k);
  }

  /** The log-prob of the id at position t. Throws TeacherRefusal when it is another id, or no log-prob. */
  setOwn(t: number, id: number | undefined, logProb: unknown): void {
    const sampled = this.responseIds[t]!;
    if (id !== sampled) {
      const scored = id === undefined ? 'other ids' : `id ${id}`;
      throw new TeacherRefusal('ids-mismatch', `position ${t}: the teacher scored ${scored}, sampled was ${sampled}`);
    }
    this.logProbs[t] = checked(t, logProb);
  }

  /**
   * The K best of the candidates at position t: by log-prob, of equal ones the smaller id first. An engine may give one more than
   * was asked for, the sampled id. Throws TeacherRefusal when there are fewer than K, or one has no log-prob.
   */
  setTop(t: number, candidates: Candidates): void {
    const { k, topIds, topLogProbs } = this;
    if (k === 0) return;
    const { ids, logProbs, count } = candidates;
    if (count < k) throw new TeacherRefusal('length-mismatch', `position ${t}: ${count} of the ${k} most likely ids`);
    const start = t * k;
    let filled = 0;
    for (let i = 0; i < count; i++) {
      const id = ids[i]!;
      const logProb = checked(t, logProbs[i]);
      let at = filled;
      while (at > 0 && isBetter(logProb, id, topLogProbs[start + at - 1]!, topIds[start + at - 1]!)) at--;
      if (at > 0 && topIds[start + at - 1] === id)
        throw new TeacherRefusal('ids-mismatch', `position ${t}: id ${id} stands twice among the most likely`);
      if (at === k) continue;
      for (let j = Math.min(filled, k - 1); j > at; j--) {
        topIds[start + j] = topIds[start + j - 1]!;
        topLogProbs[start + j] = topLogProbs[start + j - 1]!;
      }
      topIds[start + at] = id;
      topLogProbs[start + at] = logProb;
      if (filled < k) filled++;
    }
  }

  scores(): Scores {
    const { k, topIds: ids, topLogProbs, logProbs } = this;
    return { logProbs, topK: k === 0 ? null : { k, ids, logProbs: topLogProbs } };
  }
}

/** The ids that an engine lists at one position, in any order; the first `count` entries of both arrays are in use. */
export interface Candidates {
  ids: number[];
  logProbs: unknown[];
  count: number;
}

/** Both as the float32 that is stored, so that an order does not depend on digits that are lost. */
function isBetter(logProb: number, id: number, otherLogProb: number, otherId: number): boolean {
  return logProb > otherLogProb || (logProb === otherLogProb && id < otherId);
}

function checked(t: number, logProb: unknown): number {
  if (typeof logProb !== 'number' || !(logProb > VLLM_MINUS_INFINITY) || logProb > ROUNDING)
    throw new TeacherRefusal('non-finite', `position ${t}: the teacher's log-prob is ${printed(logProb)}`);
  return Math.fround(logProb);
}

const printed = (value: unknown): string =>
  (typeof value === 'number' ? String(value) : JSON.stringify(value)) ?? 'missing';
