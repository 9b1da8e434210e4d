import { commonConfig } from '@hindcast/platform';
import { z } from 'zod';

export const DemoJudgeConfig = commonConfig(8001).extend({
  DEMO_JUDGE_NOISE: z
    .enum(['none', 'explicit', 'mixed', 'implicit'])
    .default('mixed')
    .describe('how unreliable the votes are'),
  DEMO_JUDGE_SEED: z.coerce.number().int().nonnegative().default(0).describe('seed of that noise'),
});
export type DemoJudgeConfig = Readonly<z.infer<typeof DemoJudgeConfig>>;
