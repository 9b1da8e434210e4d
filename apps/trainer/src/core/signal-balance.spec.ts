import { balancedRatio, scheduledWeights, spreadOf } from './signal-balance';

describe('scheduledWeights', () => {
  it.each([
    { step: 0, rl: 0.1, opd: 1 },
    { step: 99, rl: 0.1, opd: 1 },
    { step: 100, rl: 0.5, opd: 0.5 },
    { step: 499, rl: 0.5, opd: 0.5 },
    { step: 500, rl: 1, opd: 0.1 },
  ])('step $step: w_opd $opd, w_rl $rl', ({ step, rl, opd }) => {
    expect(scheduledWeights(step)).toEqual({ rl, opd });
  });
});

describe('balancedRatio', () => {
  it.each([
    { rl: 1, opd: 4, ratio: 0.25, why: 'a signal four times as large gets a quarter of the weight' },
    { rl: 0, opd: 4, ratio: 0.7, why: 'equal rewards have no spread' },
    { rl: 1, opd: 0, ratio: 0.7, why: 'a teacher that agrees has no spread' },
    { rl: null, opd: 4, ratio: 0.7, why: 'no sample has a reward' },
    { rl: 1, opd: null, ratio: 0.7, why: 'no sample has a teacher' },
    { rl: 1, opd: NaN, ratio: 0.7, why: 'not a number' },
    { rl: Infinity, opd: 1, ratio: 0.7, why: 'not finite' },
  ])('σ_rl $rl, σ_opd $opd after 0.7: $ratio, $why', ({ rl, opd, ratio }) => {
    expect(balancedRatio(rl, opd, 0.7)).toBe(ratio);
  });
});

describe('spreadOf', () => {
  it('is over the values of all arrays together', () => {
    expect(spreadOf([[1, 1], [-1], [-1]])).toEqual({ mean: 0, std: 1 });
  });
  it('is null without a value', () => {
    expect(spreadOf([[], []])).toBeNull();
  });
});
