import { gate, type Decision as GateDecision, type GateRule } from '@hindcast/advantage';
import {
  encodeIds,
  encodeLogProbs,
  type Capture,
  type Feedback,
  type RewardSource,
  type Sample,
  type ScoredTurn,
  type UnhintedTurn,
} from '@hindcast/contracts';
import type { GateCase } from './turn';

export type JudgedTurn = UnhintedTurn | ScoredTurn;

/** What the decision on a judged turn depends on besides the turn. */
export interface Circumstances {
  readonly rule: GateRule;
  readonly feedback: Feedback | null;
  /** Largest sample that can be sent, bytes. */
  readonly maxSampleBytes: number;
}

/** The gate's verdict with its reason, and the sample that it lets through. */
export interface Decision {
  readonly case: GateCase;
  readonly reward: number | null;
  readonly reason: string | null;
  /** After feedback. */
  readonly evalScore: -1 | 0 | 1;
  readonly rewardSource: RewardSource;
  readonly sample: Sample | null;
}

/** Why a capture cannot be read: it is gone, or it is no capture. */
export type CaptureFailure = 'capture-missing' | 'capture-malformed';

/** Whether the gate lets the turn through, so that its capture is worth reading. */
export const needsCapture = (turn: JudgedTurn, circumstances: Circumstances): boolean =>
  gated(turn, circumstances, null).keep;

/** Decides a judged turn. `capture` may be left out, as its failure, only when {@link needsCapture} says no. */
export function decide(turn: JudgedTurn, circumstances: Circumstances, capture: Capture | CaptureFailure): Decision {
  const found = typeof capture === 'string' ? null : capture;
  const verdict = gated(turn, circumstances, found);
  const judged = {
    evalScore: scoreOf(turn, circumstances),
    rewardSource: circumstances.feedback ? ('feedback' as const) : turn.rewardSource,
  };
  const drop = (reason: string): Decision => ({ ...judged, case: 'drop', reward: null, reason, sample: null });
  if (!verdict.keep) return drop(verdict.reason);
  if (typeof capture === 'string') return drop(capture);
  const sample = sampleOf(turn, verdict, judged, circumstances.rule, capture);
  if (sizeOf(sample) > circumstances.maxSampleBytes) return drop('too-large');
  return { ...judged, case: verdict.case, reward: verdict.reward, reason: verdict.reason, sample };
}

/** A person's word outweighs the votes. */
const scoreOf = (turn: JudgedTurn, { feedback }: Circumstances): -1 | 0 | 1 => feedback?.reward ?? turn.evalScore;

function gated(turn: JudgedTurn, circumstances: Circumstances, capture: Capture | null): GateDecision {
  return gate(
    {
      hintAccepted: turn.hint !== null,
      reward: scoreOf(turn, circumstances),
      guards: turn.guards,
      sessionHasSample: null,
      teacher: teacherOf(turn, capture),
      policyVersion: turn.policyVersion,
    },
    circumstances.rule,
  );
}

function teacherOf(turn: JudgedTurn, capture: Capture | null): string {
  if (!('teacher' in turn)) return 'none';
  if (!turn.teacher.ok) return turn.teacher.reason;
  return capture && turn.teacher.logProbs.length !== capture.responseIds.length ? 'length-mismatch' : 'ok';
}

function sampleOf(
  turn: JudgedTurn,
  verdict: GateDecision & { keep: true },
  { evalScore, rewardSource }: Pick<Decision, 'evalScore' | 'rewardSource'>,
  rule: GateRule,
  capture: Capture,
): Sample {
  const teacher = 'teacher' in turn && turn.teacher.ok && verdict.case !== 'rl' ? turn.teacher : null;
  return {
    sessionId: turn.sessionId,
    responseId: turn.responseId,
    policyVersion: turn.policyVersion,
    case: verdict.case,
    method: rule.method,
    reward: verdict.reward,
    rewardSource,
    promptIds: encodeIds(capture.promptIds),
    responseIds: encodeIds(capture.responseIds),
    rolloutLogProbs: encodeLogProbs(capture.rolloutLogProbs),
    teacherLogProbs: teacher?.logProbs ?? null,
    hint: turn.hint,
    evalScore,
    teacherModel: teacher?.model ?? null,
    topK: teacher?.topK ?? null,
  };
}

/** Envelope, keys and short texts, bytes; more than they ever need. */
const OVERHEAD_BYTES = 4_096;

function sizeOf(sample: Sample): number {
  const arrays = [sample.promptIds, sample.responseIds, sample.rolloutLogProbs, sample.teacherLogProbs];
  const base64 = arrays.reduce((bytes, array) => bytes + (array?.base64.length ?? 0), 0);
  // JSON escapes a character with at most six bytes.
  return OVERHEAD_BYTES + base64 + 6 * (sample.hint?.length ?? 0);
}
