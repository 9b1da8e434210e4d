import { ContractViolation, DependencyUnavailable, HindcastError } from '@hindcast/contracts';
import { backoffMs } from './backoff';
import { handlerMistakes } from './handled';
import { exhausted, settlementOf } from './settlement';

describe('backoffMs', () => {
  it.each([
    { attempt: 1, random: 0.5, expected: 100, why: 'the first delay is the base' },
    { attempt: 2, random: 0.5, expected: 200, why: 'doubles' },
    { attempt: 5, random: 0.5, expected: 1_000, why: 'up to the longest' },
    { attempt: 5_000, random: 0.5, expected: 1_000, why: 'and never overflows' },
    { attempt: 2, random: 0, expected: 100, why: 'half at least' },
    { attempt: 2, random: 0.999, expected: 300, why: 'one and a half at most' },
  ])('$why', ({ attempt, random, expected }) => {
    expect(backoffMs(attempt, 100, 1_000, random)).toBe(expected);
  });
});

describe('settlementOf', () => {
  it.each([
    { error: new DependencyUnavailable('db', 'away', 7), expected: { kind: 'wait', retryAfterMs: 7 } },
    { error: new ContractViolation('s', 'broken'), expected: { kind: 'bury', code: 'contract-violation' } },
    { error: new HindcastError('engine-timeout', 'slow'), expected: { kind: 'retry' } },
    { error: new TypeError('a bug'), expected: { kind: 'retry' } },
    { error: 'not even an error', expected: { kind: 'retry' } },
    { error: undefined, expected: { kind: 'retry' } },
  ])('$error → $expected.kind', ({ error, expected }) => {
    expect(settlementOf({ ok: false, error })).toEqual(expected);
  });
  it('acknowledges what was handled', () => expect(settlementOf({ ok: true })).toEqual({ kind: 'ack' }));
});

it('buries only what came more often than allowed', () => {
  expect(exhausted(3, 3)).toBeNull();
  expect(exhausted(4, 3)).toMatchObject({ code: 'max-deliveries' });
});

it('finds every mistake in what an app handles', () => {
  expect(handlerMistakes('app', ['a'], new Map([['a', {}]]))).toEqual([]);
  const handlers = new Map<string, { next?: unknown }>([
    ['b', { next: {} }],
    ['c', {}],
  ]);
  expect(handlerMistakes('app', ['a', 'b'], handlers)).toEqual([
    'app has no handler for a',
    'app has two handlers for b',
    'app handles c, which the contracts do not give it',
  ]);
});
