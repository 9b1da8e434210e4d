import type { StepRow } from '@hindcast/contracts';
import {
  hasNumber,
  marksText,
  newestSteps,
  seriesOf,
  smoothed,
  stepMarks,
  stepsInOrder,
  withoutRounding,
} from './step-series';

const step = (version: number, metrics: Record<string, number> = {}, more: Partial<StepRow> = {}): StepRow => ({
  version,
  parent: version - 1,
  at: version * 1000,
  state: 'published',
  reason: null,
  turns: 4,
  metrics,
  ...more,
});

describe('steps', () => {
  it('come oldest first, and what was read later replaces what was read before', () => {
    const newest = step(2, { kl: 2 }, { state: 'rolled-back' });
    expect(stepsInOrder([step(3), step(2, { kl: 1 }), step(1), newest])).toEqual([step(1), newest, step(3)]);
  });

  it('are cut to the newest', () => {
    expect(newestSteps([step(1), step(2), step(3)], 2).map(({ version }) => version)).toEqual([2, 3]);
    expect(newestSteps([step(1)], 50)).toHaveLength(1);
  });
});

describe('a series', () => {
  it('has a gap where a step lacks the metric, and 0 only where it is 0', () => {
    const values = seriesOf([step(1, { kl: 0 }), step(2), step(3, { kl: 0.5 })], 'kl');
    expect(values).toEqual([0, null, 0.5]);
  });

  it('has a gap where the number is not finite', () => {
    expect(seriesOf([step(1, { kl: Number.NaN })], 'kl')).toEqual([null]);
  });

  it('takes no member that every object has for a metric', () => {
    expect(seriesOf([step(1)], 'constructor')).toEqual([null]);
  });

  it('knows whether it has a number', () => {
    expect(hasNumber([null, 0])).toBe(true);
    expect(hasNumber([null, null])).toBe(false);
    expect(hasNumber([])).toBe(false);
  });
});

describe('smoothing', () => {
  it('leaves the values with weight 0', () => {
    expect(smoothed([1, null, 3], 0)).toEqual([1, null, 3]);
  });

  it('starts at the first value, not at 0', () => {
    // s₁ = 0.5 / 0.5; s₂ = (0.25 + 1.5) / 0.75
    expect(smoothed([1, 3], 0.5)).toEqual([1, 1.75 / 0.75]);
  });

  it('keeps gaps and goes on behind them', () => {
    const [, gap, last] = smoothed([1, null, 3], 0.5);
    expect(gap).toBeNull();
    expect(last).toBeCloseTo(7 / 3, 12);
  });

  it('refuses a weight that never forgets', () => {
    expect(() => smoothed([1], 1)).toThrow(RangeError);
    expect(() => smoothed([1], Number.NaN)).toThrow(RangeError);
  });
});

describe('marks', () => {
  const steps = [
    step(1),
    step(2, {}, { state: 'refused', reason: 'drift 7.1 nats' }),
    step(3, {}, { state: 'rolled-back' }),
    step(4, {}, { state: null }),
    step(5, {}, { state: 'refused' }),
  ];

  it('are the versions that were refused or rolled back, with the reason', () => {
    expect(stepMarks(steps)).toEqual([
      { version: 2, state: 'refused', reason: 'drift 7.1 nats' },
      { version: 3, state: 'rolled-back', reason: null },
      { version: 5, state: 'refused', reason: null },
    ]);
  });

  it('are counted in words', () => {
    expect(marksText(stepMarks(steps))).toBe('2 refused, 1 rolled back');
    expect(marksText([])).toBe('');
  });
});

describe('what is nothing but rounding', () => {
  const cleaned = (...values: (number | null)[]) => withoutRounding([{ values }])[0]!.values;
  it('is 0, beside larger numbers or alone', () => {
    expect(cleaned(3.6e-16, null, -0.5)).toEqual([0, null, -0.5]);
    expect(cleaned(3.6e-16)).toEqual([0]);
    expect(withoutRounding([{ values: [2e-10] }, { values: [1] }]).map(({ values }) => values)).toEqual([[0], [1]]);
  });
  it('is not what is small at its own scale', () => expect(cleaned(1e-6, 2e-10)).toEqual([1e-6, 2e-10]));
});
