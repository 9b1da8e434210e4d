import { loraModules } from '@hindcast/language-model';
import { z } from 'zod';
import type { Tuning } from './tuning';

/** What a manifest's hyperparameters say of the tuning; dropout may change from step to step, it leaves no trace in the weights. */
export const RecordedTuning = z.object({
  tuning: z.discriminatedUnion('kind', [
    z.object({ kind: z.literal('full') }),
    z.object({
      kind: z.literal('lora'),
      rank: z.number(),
      alpha: z.number(),
      targets: z.array(z.enum(loraModules)),
      isRankStabilised: z.boolean(),
    }),
  ]),
});
export type Recorded = z.infer<typeof RecordedTuning>['tuning'];

/**
 * Whether weights can be trained on under a tuning.
 *
 * @param hyperparameters as the manifest of the weights has them
 * @returns what has to be set to go on from the weights; `null` when nothing, or when the manifest does not say
 */
export function settingsToGoOn(hyperparameters: Readonly<Record<string, unknown>>, tuning: Tuning): string | null {
  const parsed = RecordedTuning.safeParse(hyperparameters);
  if (!parsed.success) return null;
  const [recorded, wanted] = [settingsOf(parsed.data.tuning), settingsOf(tuning)];
  const different = Object.entries(recorded).filter(([name, value]) => wanted[name] !== value);
  return different.length === 0 ? null : different.map(([name, value]) => `${name}=${value}`).join(' ');
}

/** Whether weights of the one are weights of the other. */
export function sameTuning(a: Recorded, b: Recorded): boolean {
  return JSON.stringify(settingsOf(a)) === JSON.stringify(settingsOf(b));
}

/** The variables that decide what the weights are, as one would set them. */
function settingsOf(tuning: Recorded | Tuning): Record<string, string> {
  if (tuning.kind === 'full') return { TUNING: 'full' };
  return {
    TUNING: 'lora',
    LORA_RANK: String(tuning.rank),
    LORA_ALPHA: String(tuning.alpha),
    LORA_TARGETS: loraModules.filter((module) => tuning.targets.includes(module)).join(','),
    LORA_RANK_STABILISED: tuning.isRankStabilised ? '1' : '0',
  };
}
