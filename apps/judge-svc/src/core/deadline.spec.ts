import { cutOffAs } from './deadline';

it.each([
  { before: null, underWayMs: 60_000, elapsedMs: 60_000, as: 'timeout', why: 'the only request was never answered' },
  { before: null, underWayMs: 0, elapsedMs: 0, as: 'timeout', why: 'nothing failed' },
  { before: 'error', underWayMs: 5, elapsedMs: 60_000, as: 'error', why: 'a try had just begun' },
  { before: 'error', underWayMs: 9_000, elapsedMs: 60_000, as: 'error', why: 'the sixth connection nobody takes' },
  { before: 'error', underWayMs: 59_000, elapsedMs: 60_000, as: 'timeout', why: 'the second try was never answered' },
  { before: 'breaker-open', underWayMs: 5, elapsedMs: 60_000, as: 'breaker-open', why: 'it was let through just now' },
] as const)('$before, then $underWayMs of $elapsedMs ms: $why', ({ before, underWayMs, elapsedMs, as }) =>
  expect(cutOffAs(before, underWayMs, elapsedMs)).toBe(as),
);
