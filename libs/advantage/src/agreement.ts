import type { Score } from './votes';

/** What the judge and a person said about the same answer. */
export interface ScoredPair {
  readonly judge: Score;
  readonly human: Score;
}

export interface AgreementReport {
  /** Pairs. */
  readonly n: number;
  /** `confusion[h + 1][j + 1]`: pairs in which the person said h and the judge said j, each of −1, 0, +1. */
  readonly confusion: readonly (readonly number[])[];
  /** Share of pairs in which both say the same; `null` without a pair. */
  readonly accuracy: number | null;
  /** Pairs in which neither says 0. */
  readonly decided: number;
  /** Share of the decided pairs in which both say the same; `null` without one. */
  readonly decidedAccuracy: number | null;
  /** Cohen's κ over all pairs; `null` without a pair, and where both always say one and the same thing. */
  readonly kappa: number | null;
}

const SCORES: readonly Score[] = [-1, 0, 1];

/**
 * How far the judge agrees with people.
 *
 *   κ = (p_o − p_e) / (1 − p_e)
 *
 * with p_o the share of agreement and p_e what independent answers with the same frequencies would reach: Cohen 1960, "A coefficient of
 * agreement for nominal scales". 1 is full agreement, 0 is chance. Where p_e = 1, both used a single score throughout, and κ has no value.
 */
export function agreement(pairs: readonly ScoredPair[]): AgreementReport {
  const count = (human: Score, judge: Score): number =>
    pairs.filter((pair) => pair.human === human && pair.judge === judge).length;
  const confusion = SCORES.map((human) => SCORES.map((judge) => count(human, judge)));
  const n = pairs.length;
  const agreed = SCORES.reduce<number>((total, _, i) => total + confusion[i]![i]!, 0);
  const decidedAgreed = confusion[0]![0]! + confusion[2]![2]!;
  const decided = decidedAgreed + confusion[0]![2]! + confusion[2]![0]!;
  const chance = SCORES.reduce<number>(
    (total, _, i) => total + sum(confusion[i]!) * sum(confusion.map((row) => row[i]!)),
    0,
  );
  return {
    n,
    confusion,
    accuracy: ratio(agreed, n),
    decided,
    decidedAccuracy: ratio(decidedAgreed, decided),
    // In whole counts, so that p_e = 1 is found exactly.
    kappa: ratio(agreed * n - chance, n * n - chance),
  };
}

const ratio = (part: number, whole: number): number | null => (whole === 0 ? null : part / whole);
const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
