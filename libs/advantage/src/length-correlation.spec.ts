import fc from 'fast-check';
import { MIN_CORRELATION_SAMPLES, lengthRewardCorrelation, type LengthSample } from './length-correlation';

const samples = (...pairs: [responseTokens: number, reward: number][]): LengthSample[] =>
  pairs.map(([responseTokens, reward]) => ({ responseTokens, reward }));

describe('lengthRewardCorrelation', () => {
  it.each<{ given: LengthSample[]; r: number | null; why: string }>([
    { given: samples([10, -1], [20, 0], [30, 1]), r: 1, why: 'each ten tokens bring one point' },
    { given: samples([10, 1], [20, 0], [30, -1]), r: -1, why: 'each ten tokens cost one point' },
    { given: samples([10, 1], [20, -1], [20, 1], [10, -1]), r: 0, why: 'length does not matter' },
    // x̄ = 3, ȳ = 0.5; Σ dx dy = 3, Σ dx² = 20, Σ dy² = 1.
    { given: samples([0, 0], [2, 1], [4, 0], [6, 1]), r: 2 / Math.sqrt(20), why: 'by hand: 2/√20' },
    { given: samples([10, 1], [10, -1], [10, 1]), r: null, why: 'all are of one length' },
    { given: samples([10, 1], [20, 1], [30, 1]), r: null, why: 'all have one reward' },
    { given: samples([0.1, 0.3], [0.1, 0.3], [0.1, 0.3]), r: null, why: 'a rounding is no variance' },
    { given: samples([10, 1], [20, -1]), r: null, why: 'two are too few here' },
    { given: [], r: null, why: 'there are none' },
  ])('r = $r: $why', ({ given, r }) => {
    const got = lengthRewardCorrelation(given, 3);
    expect(got.n).toBe(given.length);
    if (r === null) expect(got.r).toBeNull();
    else expect(got.r).toBeCloseTo(r, 12);
  });

  it(`says nothing below ${MIN_CORRELATION_SAMPLES} samples`, () => {
    const line = Array.from({ length: MIN_CORRELATION_SAMPLES }, (_, i) => ({ responseTokens: i, reward: i % 2 }));
    expect(lengthRewardCorrelation(line.slice(1)).r).toBeNull();
    expect(lengthRewardCorrelation(line).r).not.toBeNull();
  });

  it('two points alone would always be a line', () => {
    expect(lengthRewardCorrelation(samples([1, 0]), 0).r).toBeNull();
  });

  it('refuses a number that is missing', () => {
    expect(() => lengthRewardCorrelation(samples([NaN, 1]))).toThrow(RangeError);
    expect(() => lengthRewardCorrelation(samples([1, Infinity]))).toThrow(RangeError);
  });

  it('is null or in [−1, 1] for any numbers', () => {
    const any = fc.record({
      responseTokens: fc.double({ noNaN: true, noDefaultInfinity: true }),
      reward: fc.double({ noNaN: true, noDefaultInfinity: true }),
    });
    fc.assert(
      fc.property(fc.array(any, { maxLength: 50 }), (given) => {
        const { r } = lengthRewardCorrelation(given, 2);
        return r === null || (r >= -1 && r <= 1);
      }),
    );
  });
});
