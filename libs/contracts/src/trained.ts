import { z } from 'zod';
import { PolicyVersion } from './primitives';
import { EncodedLogProbs, EncodedNumbers } from './typed-array';

/** `rl.v1.sample.trained`: what a committed step made of each token of one sample; `[R]` each, in the order of the sampled ids. */
export const TrainedSample = z
  .strictObject({
    /** The version that the step made, published or refused. */
    version: PolicyVersion.min(1),
    /** A = w_rl · r + w_opd · (log π_T − log π_old), as the loss took it. */
    advantages: EncodedNumbers,
    /** log π_old, what the ratio was taken against, nats. */
    oldLogProbs: EncodedLogProbs,
    /** log π_θ after the step, nats; `null` where the trainer was told not to compute it. */
    newLogProbs: EncodedLogProbs.nullable(),
    /** The clip range of the ratio is [1 − low, 1 + high]. */
    clipEpsilonLow: z.number().nonnegative(),
    clipEpsilonHigh: z.number().nonnegative(),
  })
  .superRefine(({ advantages, oldLogProbs, newLogProbs }, context) => {
    if (oldLogProbs.length !== advantages.length || (newLogProbs && newLogProbs.length !== advantages.length))
      context.addIssue({ code: 'custom', message: 'advantages and log-probs are of the same tokens' });
  });
export type TrainedSample = z.infer<typeof TrainedSample>;
