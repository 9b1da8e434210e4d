import { duration, exactTime, latency, relativeTime } from './time';

it.each([
  [0, 'just now'],
  [-5_000, 'just now'],
  [9_999, 'just now'],
  [61_000, '1 min ago'],
  [3_600_000 * 5, '5 h ago'],
  [86_400_000 * 40, '40 d ago'],
])('%d ms ago reads “%s”', (ago, text) => expect(relativeTime(1e12 - ago, 1e12)).toBe(text));

it.each([
  [-1, '0 ms'],
  [250.4, '250 ms'],
  [1_999, '1 s'],
])('%d ms last “%s”', (ms, text) => expect(duration(ms)).toBe(text));

it.each([
  [999, '999 ms'],
  [1_249, '1.2 s'],
  [75_400, '75 s'],
])('a latency of %d ms reads “%s”', (ms, text) => expect(latency(ms)).toBe(text));

it('gives the exact time to the second', () =>
  expect(exactTime(Date.UTC(2026, 0, 2, 3, 4, 5), 'en-GB', 'UTC')).toBe('2 Jan 2026, 03:04:05'));
