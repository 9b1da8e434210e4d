import type { GateCase, LedgerDecision, TurnRow, TurnState } from '@hindcast/contracts';
import { decimal } from './number';
import { reasonText } from './reasons';

export const STATES: Readonly<Record<TurnState, string>> = {
  open: 'open',
  paired: 'paired',
  judged: 'judged',
  decided: 'decided',
  trained: 'trained',
  closed: 'closed',
};

/** What a state means, for a title. */
export const STATE_MEANINGS: Readonly<Record<TurnState, string>> = {
  open: 'Answered; waits for what comes next in the conversation',
  paired: 'What came next is known; the judge has not voted yet',
  judged: 'Judged; waits for the teacher or the gate',
  decided: 'The gate has decided; not trained (yet)',
  trained: 'A step was trained on it',
  closed: 'Ended without a decision',
};

export const CASES: Readonly<Record<GateCase, string>> = {
  opdRl: 'OPD + RL',
  opd: 'OPD only',
  rl: 'RL only',
  drop: 'dropped',
};

export const CASE_MEANINGS: Readonly<Record<GateCase, string>> = {
  opdRl: 'Hint and score: the teacher’s log-probs and the reward train',
  opd: 'Hint without a score: the teacher’s log-probs train',
  rl: 'Score without a hint: the reward trains',
  drop: 'Neither trains',
};

type Decided = Pick<LedgerDecision, 'case' | 'reward' | 'reason'>;

/** The gate's verdict as sentences: what trains, and what is special about it. */
export function decisionWords({ case: gate, reward, reason }: Decided): string {
  const because = reason === null ? '' : ` ${reasonText(reason) ?? `Reason: ${reason}.`}`;
  if (gate === 'drop') return `Dropped.${because}`;
  const r = decimal(reward, Number.isInteger(reward) ? 0 : 2);
  const signal = {
    opdRl: `Trains with both signals: reward ${r}, and what the teacher, shown the hint, would have said.`,
    opd: 'Trains with the teacher’s signal alone: there is a hint, and no score.',
    rl: `Trains with the reward alone, ${r}: there is no hint.`,
  }[gate];
  return `${signal}${because}`;
}

/** Feedback on it is recorded only. */
export const isLate = ({ state }: Pick<TurnRow, 'state'>): boolean =>
  state === 'decided' || state === 'trained' || state === 'closed';

/** What stands in the list for a request and an answer whose texts are not there. */
export function missingTexts({ state }: Pick<TurnRow, 'state'>): { readonly request: string; readonly answer: string } {
  return state === 'open'
    ? { request: 'Open turn', answer: 'not yet: comes with the next message' }
    : { request: 'Turn without texts', answer: 'no texts kept' };
}
