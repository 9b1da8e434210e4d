import type { Decision } from '../../core/decide';
import type { Replayed } from './replayed-turn';
import { Spread } from './spread';

/** What is compared between two ways to decide the same turns. */
class Side {
  readonly cases = new Map<string, number>();
  readonly reasons = new Map<string, number>();
  readonly rl = new Spread();
  readonly opd = new Spread();
  readonly advantage = new Spread();

  add({ decision, advantages, rl, opd }: Replayed): void {
    count(this.cases, decision.case);
    if (decision.reason !== null) count(this.reasons, decision.reason);
    if (rl !== null) this.rl.add(rl, advantages.length);
    opd.forEach((value) => this.opd.add(value));
    advantages.forEach((value) => this.advantage.add(value));
  }

  summary() {
    return {
      cases: sorted(this.cases),
      reasons: sorted(this.reasons),
      tokens: { rl: this.rl.summary(), opd: this.opd.summary(), advantage: this.advantage.summary() },
    };
  }
}

/** What other settings would have made of recorded turns. */
export class ReplayReport {
  readonly before = new Side();
  readonly after = new Side();
  private turns = 0;
  private readonly changes = new Map<string, number>();
  private unlike = 0;

  /** @param isAsRecorded the recorded settings give the decision that the ledger holds */
  add(before: Replayed, after: Replayed, isAsRecorded: boolean): void {
    this.turns++;
    this.before.add(before);
    this.after.add(after);
    if (!isAsRecorded) this.unlike++;
    if (isChanged(before.decision, after.decision)) count(this.changes, changeOf(before.decision, after.decision));
  }

  summary() {
    return {
      turns: this.turns,
      changed: [...this.changes.values()].reduce((sum, number) => sum + number, 0),
      changes: sorted(this.changes),
      /** Turns whose recorded settings give another decision than the ledger holds; anything but 0 is a fault. */
      unlikeLedger: this.unlike,
      before: this.before.summary(),
      after: this.after.summary(),
    };
  }
}

export type ReplaySummary = ReturnType<ReplayReport['summary']>;

const isChanged = (before: Decision, after: Decision): boolean =>
  before.case !== after.case || before.reward !== after.reward || before.reason !== after.reason;

const changeOf = (before: Decision, after: Decision): string => `${named(before)} → ${named(after)}`;

const named = ({ case: gateCase, reason, reward }: Decision): string =>
  gateCase === 'drop' ? `drop (${reason})` : `${gateCase} r=${reward}`;

const count = (counts: Map<string, number>, key: string): void => void counts.set(key, (counts.get(key) ?? 0) + 1);
const sorted = (counts: ReadonlyMap<string, number>): Readonly<Record<string, number>> =>
  Object.fromEntries([...counts].sort(([a], [b]) => (a < b ? -1 : 1)));
