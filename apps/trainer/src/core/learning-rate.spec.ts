import { scheduleFactor, type LrSchedule } from './learning-rate';

const schedule = (over: Partial<LrSchedule>): LrSchedule => ({
  kind: 'constant',
  warmupSteps: 0,
  totalSteps: null,
  ...over,
});

describe('scheduleFactor', () => {
  it.each([
    { over: {}, step: 0, factor: 1, why: 'constant from the first step' },
    { over: {}, step: 1e6, factor: 1, why: 'constant for ever' },
    { over: { warmupSteps: 4 }, step: 0, factor: 1 / 4, why: 'the first step of a warm-up moves' },
    { over: { warmupSteps: 4 }, step: 3, factor: 1, why: 'the last step of a warm-up is whole' },
    { over: { warmupSteps: 4 }, step: 4, factor: 1, why: 'after it, constant' },
    { over: { kind: 'linear', totalSteps: 10 }, step: 0, factor: 1, why: 'linear begins whole' },
    { over: { kind: 'linear', totalSteps: 10 }, step: 5, factor: 0.5, why: 'half-way' },
    { over: { kind: 'linear', totalSteps: 10 }, step: 10, factor: 0, why: 'and is 0 at the end' },
    { over: { kind: 'linear', totalSteps: 10 }, step: 99, factor: 0, why: 'and beyond' },
    {
      over: { kind: 'linear', warmupSteps: 2, totalSteps: 10 },
      step: 6,
      factor: 0.5,
      why: 'half-way after the warm-up',
    },
    { over: { kind: 'cosine', totalSteps: 10 }, step: 0, factor: 1, why: 'cosine begins whole' },
    { over: { kind: 'cosine', totalSteps: 12 }, step: 4, factor: 0.75, why: 'a third of the way: (1 + cos 60°) / 2' },
    { over: { kind: 'cosine', totalSteps: 10 }, step: 5, factor: 0.5, why: 'half-way' },
    { over: { kind: 'cosine', totalSteps: 10 }, step: 10, factor: 0, why: 'and is 0 at the end' },
    { over: { kind: 'cosine', warmupSteps: 5, totalSteps: 5 }, step: 5, factor: 1, why: 'a warm-up as long as all' },
  ] as const)('$over, step $step: $factor, $why', ({ over, step, factor }) => {
    expect(scheduleFactor(step, schedule(over))).toBeCloseTo(factor, 12);
  });
});
