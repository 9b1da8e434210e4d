import { hashed, hashedArray, hashedInteger } from './hashed-numbers';

it('are those that tools/reference/bench_trainer.py makes', () => {
  const expected = [-0.05675940960645676, 0.9447353482246399, -0.05637561157345772];
  expect([...hashedArray(7, 3, 1)]).toEqual(expected);
  expect(expected.map((_, i) => Math.fround(hashed(7, i)))).toEqual(expected);
});

it('have mean 0 and the variance of a uniform distribution', () => {
  const values = hashedArray(3, 100_000, 2);
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const variance = values.reduce((sum, value) => sum + value * value, 0) / values.length;
  expect(Math.abs(mean)).toBeLessThan(0.01);
  expect(Math.abs(variance - 4 / 3)).toBeLessThan(0.01);
});

it('whole numbers stay below their bound and reach both ends', () => {
  const values = Array.from({ length: 1_000 }, (_, i) => hashedInteger(5, i, 10));
  expect([Math.min(...values), Math.max(...values)]).toEqual([0, 9]);
});
