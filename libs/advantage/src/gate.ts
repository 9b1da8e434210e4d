export type Method = 'combine' | 'binary-rl' | 'opd' | 'none';
/** Row of the gate that a sample comes from. */
export type SampleCase = 'opdRl' | 'opd' | 'rl';

/** What is known of a judged turn when the gate decides. */
export interface JudgedTurn {
  readonly hintAccepted: boolean;
  /** r: the eval score, or what a person, a verifier or the session's environment gave; 0 says nothing either way. */
  readonly reward: number;
  /** Names of the guards that were hit by the answer, in order. */
  readonly guards: readonly string[];
  /** `ok`: log-probs are there; `none`: no hint, so none were asked for; anything else: why there are none. */
  readonly teacher: 'ok' | 'none' | (string & {});
  /** Version that sampled the answer. */
  readonly policyVersion: number;
  /** Whether a turn of this session was kept before this one; `null` when the turn belongs to no session. */
  readonly sessionHasSample: boolean | null;
}

export interface GateRule {
  readonly method: Method;
  /** Newest version that serves. */
  readonly currentVersion: number;
  /** Largest accepted lag behind it, in versions. */
  readonly maxStaleness: number;
  /** With `binary-rl`: a session without a kept turn keeps its first one of reward 0, as the original does. */
  readonly atLeastOne: boolean;
}

export type Decision =
  | { readonly keep: true; readonly case: SampleCase; readonly reward: number; readonly reason: string | null }
  | { readonly keep: false; readonly reason: string };

/**
 * Decides whether a judged turn trains, and on which signals. OpenClaw-RL's four cases (arXiv:2603.10165), with each of its methods.
 *
 *   hint & teacher   reward ≠ 0   combine   binary-rl   opd    none
 *   yes              yes          opdRl     rl          opd    drop
 *   yes              no           opd       drop        opd    drop
 *   no               yes          rl        rl          drop   drop
 *   no               no           drop      drop        drop   drop
 *
 * Before the table, in this order: `method-none`; `stale`, when the version lags by more than `maxStaleness`; `guard:<name>`, when a
 * guard was hit and the reward is positive. Within it: a hint whose teacher failed counts as no hint, and the decision says
 * `teacher:<why>`; a reward that is not finite counts as none, and the decision says `reward-not-finite`; binary RL's `drop` for reward
 * 0 becomes case `rl` with reward 0 and reason `at-least-one` where that rule is on and the session has no sample yet. The policy
 * gradient of such a sample is zero: it adds its KL term and takes a place in the batch.
 *
 * Every decision carries its reason; `null` means that nothing needs explaining. Equal arguments give equal decisions.
 */
export function gate(turn: JudgedTurn, rule: GateRule): Decision {
  if (rule.method === 'none') return drop('method-none');
  if (rule.currentVersion - turn.policyVersion > rule.maxStaleness) return drop('stale');
  const guard = turn.guards[0];
  if (guard !== undefined && turn.reward > 0) return drop(`guard:${guard}`);

  const opd = rule.method !== 'binary-rl' && turn.hintAccepted && turn.teacher === 'ok';
  const rl = rule.method !== 'opd' && Number.isFinite(turn.reward) && turn.reward !== 0;
  const lost = lostSignal(turn, rule);

  if (opd) return { keep: true, case: rl ? 'opdRl' : 'opd', reward: rl ? turn.reward : 0, reason: lost };
  if (rl) return { keep: true, case: 'rl', reward: turn.reward, reason: lost };
  if (isSessionsOnlyOne(turn, rule)) return { keep: true, case: 'rl', reward: 0, reason: 'at-least-one' };
  return drop(lost ?? (rule.method === 'opd' ? 'no-hint' : 'no-signal'));
}

const drop = (reason: string): Decision => ({ keep: false, reason });

/** Why a signal that the method trains on is missing although it should be there. */
function lostSignal({ hintAccepted, teacher, reward }: JudgedTurn, { method }: GateRule): string | null {
  if (method !== 'opd' && !Number.isFinite(reward)) return 'reward-not-finite';
  return method !== 'binary-rl' && hintAccepted && teacher !== 'ok' ? `teacher:${teacher}` : null;
}

const isSessionsOnlyOne = (turn: JudgedTurn, rule: GateRule): boolean =>
  rule.method === 'binary-rl' && rule.atLeastOne && turn.sessionHasSample === false && turn.reward === 0;
