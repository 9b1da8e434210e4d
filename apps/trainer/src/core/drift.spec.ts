import { driftNats, driftVerdict } from './drift';

describe('driftNats', () => {
  it('is the mean over answers of Σ (log π − log π_seed)', () => {
    expect(driftNats([[-1, -1], [-2]], [[-2, -1.5], [-1.5]])).toBeCloseTo((1.5 - 0.5) / 2, 12);
  });
  it.each([
    { policy: [], seed: [], why: 'no answers' },
    { policy: [[-1]], seed: [[-1], [-1]], why: 'different numbers of answers' },
    { policy: [[-1, -1]], seed: [[-1]], why: 'different lengths' },
    { policy: [[-1]], seed: [[NaN]], why: 'not finite' },
  ])('refuses $why', ({ policy, seed }) => {
    expect(() => driftNats(policy, seed)).toThrow(RangeError);
  });
});

describe('driftVerdict', () => {
  it.each([
    { drift: 3.9, verdict: 'within' },
    { drift: 4, verdict: 'alarm' },
    { drift: 6, verdict: 'refuse' },
  ])('$drift nats: $verdict', ({ drift, verdict }) => {
    expect(driftVerdict(drift, { alarmNats: 4, refuseNats: 6 })).toBe(verdict);
  });
  it('never says more than within without bounds', () => {
    expect(driftVerdict(100, { alarmNats: null, refuseNats: null })).toBe('within');
  });
});
