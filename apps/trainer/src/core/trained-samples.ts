import { TurnId, encodeLogProbs, encodeNumbers, type TrainedSample } from '@hindcast/contracts';
import { z } from 'zod';

const Numbers = z.array(z.number());

/** What a record of a step (`step.json`) says of its samples to others. The records of older releases do not say as much. */
export const TrainedRecord = z.object({
  version: z.int().positive(),
  clip: z.object({ epsilonLow: z.number(), epsilonHigh: z.number() }),
  samples: z.array(
    z.object({
      turnId: TurnId,
      tenant: z.string(),
      advantages: Numbers,
      oldLogProbs: Numbers,
      newLogProbs: Numbers.nullable(),
    }),
  ),
});
export type TrainedRecord = z.infer<typeof TrainedRecord>;

export interface TrainedTurn {
  readonly turnId: string;
  readonly tenant: string;
  readonly body: TrainedSample;
}

/** @throws RangeError when a number is not what it should be */
export function trainedSamples({ version, clip, samples }: TrainedRecord): TrainedTurn[] {
  return samples.map(({ turnId, tenant, advantages, oldLogProbs, newLogProbs }) => ({
    turnId,
    tenant,
    body: {
      version,
      advantages: encodeNumbers(advantages),
      oldLogProbs: encodeLogProbs(oldLogProbs),
      newLogProbs: newLogProbs && encodeLogProbs(newLogProbs),
      clipEpsilonLow: clip.epsilonLow,
      clipEpsilonHigh: clip.epsilonHigh,
    },
  }));
}
