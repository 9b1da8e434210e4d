// <StateBadge state="trained" />, <CaseBadge case="opdRl" />, <Score value={-1} />: the words of a turn, the same everywhere.
import type { GateCase, TurnState } from '@hindcast/contracts';
import { CASE_MEANINGS, CASES, STATE_MEANINGS, STATES } from '../core/turn-words';
import { decimal } from '../core/number';
import { Badge, type Tone } from './badge';

const STATE_TONES: Readonly<Record<TurnState, Tone>> = {
  open: 'neutral',
  paired: 'accent',
  judged: 'accent',
  decided: 'accent',
  trained: 'ok',
  closed: 'neutral',
};

export function StateBadge({ state }: { readonly state: TurnState }) {
  return (
    <Badge tone={STATE_TONES[state]} title={STATE_MEANINGS[state]}>
      {STATES[state]}
    </Badge>
  );
}

export function CaseBadge({ gate }: { readonly gate: GateCase | null }) {
  if (gate === null) return <span className="muted">–</span>;
  return (
    <Badge tone={gate === 'drop' ? 'warn' : 'ok'} title={CASE_MEANINGS[gate]}>
      {CASES[gate]}
    </Badge>
  );
}

/** A score or reward: +1, 0, −1, or what an environment gave. `null`: a dash. */
export function Score({ value }: { readonly value: number | null }) {
  if (value === null) return <span className="muted">–</span>;
  const text = decimal(value, Number.isInteger(value) ? 0 : 2);
  return <Badge tone={value > 0 ? 'ok' : value < 0 ? 'bad' : 'neutral'}>{value > 0 ? `+${text}` : text}</Badge>;
}
