import { momentOf } from './options';

const NOW = Date.parse('2026-11-30T12:00:00Z');

it.each([
  ['24h', '2026-11-29T12:00:00.000Z'],
  ['90m', '2026-11-30T10:30:00.000Z'],
  ['7d', '2026-11-23T12:00:00.000Z'],
  ['2026-11-01T00:00Z', '2026-11-01T00:00:00.000Z'],
])('the time %s is %s', (text, iso) => {
  expect(momentOf(text, NOW).toISOString()).toBe(iso);
});

it.each(['', 'yesterday', '3w', '-1h'])('the time %j is refused', (text) => {
  expect(() => momentOf(text, NOW)).toThrow('a time such as');
});
