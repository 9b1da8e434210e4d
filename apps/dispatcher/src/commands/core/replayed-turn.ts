import { combinedAdvantages, opdAdvantages, type SessionRewardRule, type SignalWeights } from '@hindcast/advantage';
import { decodeLogProbs } from '@hindcast/contracts';
import type { Decision } from '../../core/decide';
import { decideRecording, type Overrides, type Recording } from '../../core/recording';
import { rejudged, type VoteRule } from './rejudged';

/** Settings of a replay; what is not given stays as it was recorded. */
export interface ReplaySettings extends VoteRule {
  readonly rule?: Partial<Recording['circumstances']['rule']>;
  readonly feedbackReward?: 'override' | 'join';
  readonly session?: Partial<SessionRewardRule>;
  readonly weights: SignalWeights;
}

/** A decision with the advantage of every response token, `[R]`; empty when nothing is trained. */
export interface Replayed {
  readonly decision: Decision;
  readonly advantages: Float64Array;
  /** w_rl · r, or `null` without a reward. */
  readonly rl: number | null;
  /** w_opd · (log π_T − log π_old), `[R]`; empty without a teacher. */
  readonly opd: Float64Array;
}

/** Votes, gate and advantage of one recorded turn. Equal recordings and settings give equal bits. */
export function replayedTurn(recording: Recording, settings: ReplaySettings): Replayed {
  const decision = decideRecording(
    { ...recording, judged: rejudged(recording.judged, settings) },
    overridesOf(recording, settings),
  );
  const { sample } = decision;
  if (sample === null) return { decision, advantages: new Float64Array(), rl: null, opd: new Float64Array() };
  const { weights } = settings;
  const rollout = decodeLogProbs(sample.rolloutLogProbs);
  const teacher = sample.teacherLogProbs && decodeLogProbs(sample.teacherLogProbs);
  return {
    decision,
    advantages: combinedAdvantages(sample.reward, rollout, teacher, weights),
    rl: sample.reward === 0 ? null : weights.rl * sample.reward,
    opd: teacher ? opdAdvantages(rollout, teacher).map((gap) => weights.opd * gap) : new Float64Array(),
  };
}

function overridesOf(
  { circumstances }: Recording,
  { rule, feedbackReward, quorum, session }: ReplaySettings,
): Overrides {
  const { outcome } = circumstances;
  return {
    ...(rule === undefined ? {} : { rule }),
    ...(feedbackReward === undefined ? {} : { feedbackReward }),
    ...(quorum === undefined ? {} : { evalQuorum: quorum }),
    ...(session === undefined || outcome === null || outcome === 'expired'
      ? {}
      : { outcome: { ...outcome, rule: { ...outcome.rule, ...session } } }),
  };
}
