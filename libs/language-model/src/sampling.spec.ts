import fc from 'fast-check';
import { mulberry32 } from './random';
import { logSoftmax, sampleToken, topTokens } from './sampling';

const logs = (...probabilities: number[]): Float32Array => Float32Array.from(probabilities, (p) => Math.log(p) + 3);
const never = (): number => {
  throw new Error('no number was to be drawn');
};

describe('mulberry32', () => {
  it('gives the numbers that its description says', () => {
    const uniform = mulberry32(0);
    expect([uniform(), uniform(), uniform()]).toEqual([0.26642920868471265, 0.0003297457005828619, 0.2232720274478197]);
  });
});

describe('sampleToken', () => {
  it.each([
    { u: 0, id: 0, why: 'the first id has [0, 0.2)' },
    { u: 0.1999, id: 0, why: 'the first id has [0, 0.2)' },
    { u: 0.2001, id: 1, why: 'the second has [0.2, 0.7)' },
    { u: 0.6999, id: 1, why: 'the second has [0.2, 0.7)' },
    { u: 0.7001, id: 2, why: 'the third has [0.7, 1)' },
    { u: 1 - 2 ** -32, id: 2, why: 'the largest u is still inside' },
    { u: 0, options: { topK: 1 }, id: 1, why: 'only the most probable is kept' },
    { u: 0.99, options: { topP: 0.5 }, id: 1, why: 'one token has half' },
    {
      u: 0,
      options: { topP: 0.6 },
      id: 1,
      why: '0.5 is not enough, 0.5 + 0.3 is: [0, 0.625) of the kept is the second',
    },
    { u: 0.63, options: { topP: 0.6 }, id: 2, why: 'the rest of the kept is the third' },
    { u: 0, options: { minP: 0.5 }, id: 1, why: '0.2 is under half of 0.5' },
    { u: 0.12, options: { temperature: 0.5 }, id: 1, why: 'squares: 0.04, 0.25, 0.09; the first has [0, 0.105)' },
    { u: 0.9, options: { topK: 2, topP: 0.62 }, id: 1, why: 'topP counts shares of what topK kept: 0.5/0.8 is 0.625' },
  ])('u = $u gives $id: $why', ({ u, options, id }) => {
    const token = sampleToken(logs(0.2, 0.5, 0.3), options ?? {}, () => u);
    expect(token.id).toBe(id);
    expect(token.logProb).toBeCloseTo(Math.log([0.2, 0.5, 0.3][id] as number), 6);
  });

  it('takes the most probable at temperature 0, the lowest id on a tie, and draws nothing', () => {
    expect(sampleToken(Float32Array.of(1, 4, 4, 0), { temperature: 0, topP: 0.1 }, never).id).toBe(1);
  });

  it('follows the distribution', () => {
    const uniform = mulberry32(5);
    const drawn = Array.from({ length: 20_000 }, () => sampleToken(logs(0.2, 0.5, 0.3), {}, uniform).id);
    // Four standard deviations of a share of 20,000 draws are at most 0.015.
    for (const [id, probability] of [0.2, 0.5, 0.3].entries()) {
      const share = drawn.filter((token) => token === id).length / drawn.length;
      expect(Math.abs(share - probability)).toBeLessThan(0.015);
    }
  });

  it('keeps the fewest tokens that reach topP, never one that is switched off, whatever the logits', () => {
    const vocabulary = fc.array(fc.oneof(fc.double({ min: -8, max: 8, noNaN: true }), fc.constant(-Infinity)), {
      minLength: 1,
      maxLength: 30,
    });
    fc.assert(
      fc.property(
        vocabulary,
        fc.double({ min: 0.01, max: 1, noNaN: true }),
        fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
        (values, topP, u) => {
          fc.pre(values.some(Number.isFinite));
          const logits = Float32Array.from(values);
          const { id, logProb } = sampleToken(logits, { topP }, () => u);
          const logProbs = logSoftmax(logits);
          expect(logProb).toBeCloseTo(logProbs[id] as number, 5);
          const before = topTokens(logProbs, logits.length).filter((token) => token.logProb > (logProbs[id] as number));
          expect(before.reduce((sum, token) => sum + Math.exp(token.logProb), 0)).toBeLessThan(topP + 1e-6);
          expect(logProb).toBeGreaterThan(-Infinity);
        },
      ),
    );
  });

  it.each([
    [Float32Array.of(1, NaN), {}, 'logit 1 is NaN'],
    [Float32Array.of(Infinity), {}, 'logit 0 is Infinity'],
    [Float32Array.of(-Infinity, -Infinity), {}, 'no token has a finite logit'],
    [Float32Array.of(), {}, 'no token has a finite logit'],
    [Float32Array.of(1), { temperature: -1 }, 'temperature -1'],
    [Float32Array.of(1), { topP: 0 }, 'topP 0'],
  ])('refuses %p with %p', (logits, options, error) => {
    expect(() => sampleToken(logits, options, never)).toThrow(error);
  });
});

describe('topTokens', () => {
  it('lists the most probable first, the lower id on a tie', () => {
    expect(topTokens(Float32Array.of(-2, -1, -3, -1), 3).map(({ id }) => id)).toEqual([1, 3, 0]);
  });
});
