import { isTrainableScore, type Score } from './votes';

export type Method = 'combine' | 'binary-rl' | 'opd' | 'none';
/** Row of the gate that a sample comes from. */
export type SampleCase = 'opdRl' | 'opd' | 'rl';

/** What is known of a judged turn when the gate decides. */
export interface JudgedTurn {
  readonly hintAccepted: boolean;
  readonly evalScore: Score;
  /** `ok`: log-probs are there; `none`: no hint, so none were asked for; anything else: why there are none. */
  readonly teacher: 'ok' | 'none' | (string & {});
  /** Version that sampled the answer. */
  readonly policyVersion: number;
}

export interface GateRule {
  readonly method: Method;
  /** Newest version that serves. */
  readonly currentVersion: number;
  /** Largest accepted lag behind it, in versions. */
  readonly maxStaleness: number;
}

export type Decision =
  | { readonly keep: true; readonly case: SampleCase; readonly reward: Score; readonly reason: string | null }
  | { readonly keep: false; readonly reason: string };

/**
 * Decides whether a judged turn trains, and on which signals.
 *
 *   hint & teacher   eval ±1   combine   binary-rl   opd    none
 *   yes              yes       opdRl     rl          opd    drop
 *   yes              no        opd       drop        opd    drop
 *   no               yes       rl        rl          drop   drop
 *   no               no        drop      drop        drop   drop
 *
 * A hint whose teacher failed counts as no hint, and the decision says `teacher:<why>`. A turn whose version lags by more than
 * `maxStaleness` is dropped first. Every decision carries its reason; `null` means that nothing needs explaining.
 */
export function gate(turn: JudgedTurn, rule: GateRule): Decision {
  if (rule.method === 'none') return { keep: false, reason: 'method-none' };
  if (rule.currentVersion - turn.policyVersion > rule.maxStaleness) return { keep: false, reason: 'stale' };

  const hasTeacher = turn.hintAccepted && turn.teacher === 'ok';
  const lostTeacher =
    turn.hintAccepted && !hasTeacher && rule.method !== 'binary-rl' ? `teacher:${turn.teacher}` : null;
  const rl = isTrainableScore(turn.evalScore) && rule.method !== 'opd';
  const opd = hasTeacher && rule.method !== 'binary-rl';

  if (opd) return { keep: true, case: rl ? 'opdRl' : 'opd', reward: rl ? turn.evalScore : 0, reason: null };
  if (rl) return { keep: true, case: 'rl', reward: turn.evalScore, reason: lostTeacher };
  return { keep: false, reason: lostTeacher ?? (rule.method === 'opd' ? 'no-hint' : 'no-signal') };
}
