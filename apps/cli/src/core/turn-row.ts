import type { TurnRow } from '@hindcast/contracts';
import { ago } from './times';

export const TURN_HEADING = [
  'turn',
  'when',
  'state',
  'case',
  'reason',
  'version',
  'eval',
  'reward',
  'trained in',
  'request → answer',
];

/** A turn in one row of a list. */
export const turnRow = (turn: TurnRow, now: number): string[] => [
  turn.turnId,
  ago(turn.createdAt, now),
  turn.state,
  turn.case ?? '-',
  turn.reason ?? '-',
  number(turn.policyVersion),
  signed(turn.evalScore),
  signed(turn.reward),
  number(turn.trainedIn),
  turn.request === null && turn.answer === null ? '' : `${turn.request ?? '…'} → ${turn.answer ?? '…'}`,
];

const number = (value: number | null): string => (value === null ? '-' : String(value));

/** With its sign; `-` where there is none. */
export const signed = (value: number | null): string =>
  value === null ? '-' : value > 0 ? `+${value}` : String(value);
