import type { JudgeStatistics } from '@hindcast/contracts';

export type VoteKind = 'eval' | 'hint';
export type ScoreValue = -1 | 0 | 1;
export const SCORE_VALUES: readonly ScoreValue[] = [-1, 0, 1];

export interface VoteShare {
  readonly score: ScoreValue;
  readonly count: number;
  /** Of the readable votes of the kind; `null` without one. */
  readonly share: number | null;
}

export interface AbstentionShare {
  readonly reason: string;
  readonly count: number;
  /** Of all votes of the kind, readable or not. */
  readonly share: number | null;
}

export interface KindStatistics {
  readonly kind: VoteKind;
  readonly readable: number;
  readonly abstained: number;
  /** Abstained of all; `null` without a vote. */
  readonly abstentionRate: number | null;
  readonly votes: readonly VoteShare[];
  /** Most frequent first. */
  readonly abstentions: readonly AbstentionShare[];
}

/** The votes of a kind by value, and why the others abstained. A hint vote knows no 0. */
export function kindStatistics(kind: VoteKind, { votes, abstentions }: JudgeStatistics): KindStatistics {
  const ofKind = votes.filter((vote) => vote.kind === kind);
  const without = abstentions.filter((abstention) => abstention.kind === kind);
  const readable = sum(ofKind.map(({ count }) => count));
  const abstained = sum(without.map(({ count }) => count));
  const values = kind === 'hint' ? SCORE_VALUES.filter((score) => score !== 0) : SCORE_VALUES;
  return {
    kind,
    readable,
    abstained,
    abstentionRate: ratio(abstained, readable + abstained),
    votes: values.map((score) => {
      const count = sum(ofKind.filter((vote) => vote.score === score).map((vote) => vote.count));
      return { score, count, share: ratio(count, readable) };
    }),
    abstentions: without
      .map(({ reason, count }) => ({ reason, count, share: ratio(count, readable + abstained) }))
      .sort((a, b) => b.count - a.count || a.reason.localeCompare(b.reason)),
  };
}

export interface PeopleAgreement {
  /** Turns that both scored. */
  readonly n: number;
  /** `matrix[p + 1][j + 1]`: turns of which the person said p and the judge j, each of −1, 0, +1. */
  readonly matrix: readonly (readonly number[])[];
  /** Share of the turns on which both say the same; `null` without one. */
  readonly share: number | null;
  /** Cohen's κ; `null` without a turn, and where both always say one and the same thing. */
  readonly kappa: number | null;
}

/**
 * How far judge and people agree.
 *
 *   κ = (p_o − p_e) / (1 − p_e)
 *
 * with p_o the share of agreement and p_e what independent answers with the same frequencies would reach: Cohen 1960, "A coefficient of
 * agreement for nominal scales". Where p_e = 1, both used a single score throughout, and κ has no value.
 */
export function peopleAgreement(human: JudgeStatistics['human']): PeopleAgreement {
  const count = (person: ScoreValue, judge: ScoreValue): number =>
    sum(human.filter((row) => row.person === person && row.judge === judge).map((row) => row.count));
  const matrix = SCORE_VALUES.map((person) => SCORE_VALUES.map((judge) => count(person, judge)));
  const n = sum(matrix.map(sum));
  const agreed = sum(SCORE_VALUES.map((_, at) => matrix[at]![at]!));
  const chance = sum(SCORE_VALUES.map((_, at) => sum(matrix[at]!) * sum(matrix.map((row) => row[at]!))));
  return {
    n,
    matrix,
    share: ratio(agreed, n),
    // In whole counts, so that p_e = 1 is found exactly.
    kappa: ratio(agreed * n - chance, n * n - chance),
  };
}

/** A score as it is written everywhere: −1, 0, +1. */
export const scoreText = (score: ScoreValue): string => (score === -1 ? '−1' : score === 1 ? '+1' : '0');

export const ratio = (part: number, whole: number): number | null => (whole === 0 ? null : part / whole);
const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
