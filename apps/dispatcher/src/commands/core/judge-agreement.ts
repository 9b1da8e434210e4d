import { agreement, majorityScore, type AgreementReport, type ScoredPair } from '@hindcast/advantage';
import type { Score } from '@hindcast/contracts';

/** A turn that a person scored, with what the judge's eval votes said. */
export interface ComparedTurn {
  readonly judgeModel: string;
  readonly promptVersion: string;
  /** `null`: the vote abstained. Empty: the judge was not asked. */
  readonly votes: readonly (Score | null)[];
  readonly human: Score;
}

export interface JudgeReport extends AgreementReport {
  readonly judgeModel: string;
  readonly promptVersion: string;
  /** Turns without a readable vote; they are not among the pairs. */
  readonly abstained: number;
  readonly isEnough: boolean;
}

export interface AgreementSummary {
  /** Turns with a person's score that the judge was not asked about, as where feedback came first and replaced the votes. */
  readonly notAsked: number;
  readonly all: Omit<JudgeReport, 'judgeModel' | 'promptVersion'>;
  /** By judge model and version of the prompt. */
  readonly judges: readonly JudgeReport[];
}

/** Decided pairs below which a rate says little: with 30 of them its 95 % interval is still ±18 points wide at 50 %. */
export const ENOUGH_PAIRS = 30;

/** How far each judge agrees with people: its majority score against the person's. */
export function judgeAgreement(turns: readonly ComparedTurn[]): AgreementSummary {
  const asked = turns.filter((turn) => turn.votes.length > 0);
  const groups = new Map<string, ComparedTurn[]>();
  for (const turn of asked) {
    const key = JSON.stringify([turn.judgeModel, turn.promptVersion]);
    groups.set(key, [...(groups.get(key) ?? []), turn]);
  }
  const judges = [...groups].sort(([a], [b]) => (a < b ? -1 : 1));
  return {
    notAsked: turns.length - asked.length,
    all: reportOf(asked),
    judges: judges.map(([, group]) => {
      const { judgeModel, promptVersion } = group[0]!;
      return { judgeModel, promptVersion, ...reportOf(group) };
    }),
  };
}

function reportOf(turns: readonly ComparedTurn[]): AgreementSummary['all'] {
  const read = turns.filter((turn) => turn.votes.some((vote) => vote !== null));
  const report = agreement(read.map(({ votes, human }): ScoredPair => ({ judge: majorityScore(votes), human })));
  return { ...report, abstained: turns.length - read.length, isEnough: report.decided >= ENOUGH_PAIRS };
}
