import { hyperparameters } from '../testing/fixtures';
import { weightsInUse } from './signal-weights';

it.each([
  ['fixed: the configuration says it', { wRl: 2, preset: 'implicit-feedback' } as const, null, { rl: 3, opd: 0.5 }],
  ['fixed: whatever an older step used', {}, { w_rl: 7, w_opd: 7 }, { rl: 1, opd: 1 }],
  ['balanced: before the first step', { balance: 'variance' } as const, null, null],
  ['balanced: the last step says it', { balance: 'schedule' } as const, { w_rl: 0.1, w_opd: 2 }, { rl: 0.1, opd: 2 }],
  ['balanced: a step that says nothing', { balance: 'variance' } as const, { w_rl: 1 }, null],
])('%s', (_, over, metrics: Record<string, number> | null, weights) => {
  expect(weightsInUse(hyperparameters(over), metrics)).toEqual(weights);
});
