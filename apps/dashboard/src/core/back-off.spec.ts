import { backOff } from './back-off';

it('waits longer with each failure, half a minute at most, and never in step with others', () => {
  expect([1, 2, 3, 9].map((failures) => backOff(failures, 0))).toEqual([500, 1_000, 2_000, 15_000]);
  expect(backOff(9, 0.999)).toBeLessThanOrEqual(30_000);
  expect(backOff(1, 0.5)).toBe(750);
});
