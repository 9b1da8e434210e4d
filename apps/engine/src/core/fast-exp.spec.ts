import fc from 'fast-check';
import { EXP_ERROR, expNonPositive } from './fast-exp';

it('is e^x to its stated error', () => {
  fc.assert(
    fc.property(fc.double({ min: -700, max: 0, noNaN: true }), (x) => {
      expect(Math.abs(expNonPositive(x) / Math.exp(x) - 1)).toBeLessThan(EXP_ERROR);
    }),
    { numRuns: 5000 },
  );
});

it.each([
  { x: 0, exp: 1, why: 'the best token' },
  { x: -0, exp: 1, why: 'the same' },
  { x: -Math.LN2, exp: 0.5, why: 'the border of a halving' },
  { x: -800, exp: 0, why: 'smaller than any number' },
  { x: -1e300, exp: 0, why: 'more steps than an int32 counts' },
  { x: -Infinity, exp: 0, why: 'a token that is switched off' },
  { x: Number.NaN, exp: Number.NaN, why: 'a broken model must not look like a token of no weight' },
])('gives $exp for $x: $why', ({ x, exp }) => {
  expect(expNonPositive(x)).toEqual(Number.isNaN(exp) ? Number.NaN : (expect.closeTo(exp, 12) as number));
});
