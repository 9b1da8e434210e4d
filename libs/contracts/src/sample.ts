import { z } from 'zod';
import { PolicyVersion, Reward, SessionId, Score } from './primitives';
import { EncodedIds, EncodedLogProbs } from './typed-array';

/** Which signals a sample carries: the row of the four-case gate that it came from. */
export const SampleCase = z.enum(['opdRl', 'opd', 'rl']);
export type SampleCase = z.infer<typeof SampleCase>;
export const Method = z.enum(['combine', 'binary-rl', 'opd', 'none']);
export type Method = z.infer<typeof Method>;

/** Who gave a reward: the judge's votes, a person, both, a verifier, or the session's environment. */
export const RewardSource = z.enum(['votes', 'feedback', 'joined', 'verifier', 'outcome']);
export type RewardSource = z.infer<typeof RewardSource>;

/** `rl.v1.sample.ready`: one self-contained sample with its provenance. */
export const Sample = z
  .strictObject({
    sessionId: SessionId,
    responseId: z.string().min(1),
    /** Version that sampled the answer. */
    policyVersion: PolicyVersion,
    case: SampleCase,
    method: Method,
    /** r; 0 for an OPD-only sample, and for the one that binary RL keeps of a session without a score. */
    reward: Reward,
    /** Where r came from. */
    rewardSource: RewardSource.default('votes'),
    promptIds: EncodedIds,
    responseIds: EncodedIds,
    rolloutLogProbs: EncodedLogProbs,
    /** log π_T, `[R]`; `null` when the sample carries no teacher signal, whose OPD advantage is then exactly zero. */
    teacherLogProbs: EncodedLogProbs.nullable(),
    hint: z.string().nullable(),
    evalScore: Score,
    teacherModel: z.string().nullable(),
    /** K of the value in the bucket `top-k` under the turn id; `null` when the sample has none. */
    topK: z.int().positive().nullable().default(null),
  })
  .superRefine((sample, context) => {
    const { responseIds, rolloutLogProbs, teacherLogProbs } = sample;
    const fail = (message: string): void => void context.addIssue({ code: 'custom', message });
    if (sample.promptIds.length === 0 || responseIds.length === 0) fail('a sample has prompt and response ids');
    if (rolloutLogProbs.length !== responseIds.length)
      fail(`${responseIds.length} response ids but ${rolloutLogProbs.length} rollout log-probs`);
    if (teacherLogProbs && teacherLogProbs.length !== responseIds.length)
      fail(`${responseIds.length} response ids but ${teacherLogProbs.length} teacher log-probs`);
    if ((sample.case === 'rl') !== (teacherLogProbs === null))
      fail(`a sample of case ${sample.case} ${teacherLogProbs ? 'has no' : 'needs'} teacher log-probs`);
    const mayBeZero = sample.case === 'opd' || (sample.case === 'rl' && sample.method === 'binary-rl');
    if (sample.reward === 0 ? !mayBeZero : sample.case === 'opd')
      fail(`a sample of case ${sample.case} cannot have reward ${sample.reward}`);
  });
export type Sample = z.infer<typeof Sample>;

/** `rl.v1.sample.refused`: the trainer will not train this sample. */
export const RefusedSample = z.strictObject({
  reason: z.enum(['stale', 'non-finite', 'over-token-budget', 'out-of-vocabulary']),
  detail: z.string().max(1000),
  /** Newest version at the time of the refusal. */
  policyVersion: PolicyVersion,
});
export type RefusedSample = z.infer<typeof RefusedSample>;
