import {
  MINUTE_MS,
  charge,
  estimate,
  guessOf,
  left,
  recent,
  spent,
  took,
  waitFor,
  type Account,
  type Budget,
} from './budget';

const at = (minute: number): number => minute * MINUTE_MS;
const calls = (limit: number): Budget => ({ calls: limit, tokens: null, cost: null });
const six = { calls: 6, tokens: 600, cost: 0.6 };
/** 60 calls in minute 100, 30 in minute 130. */
const account: Account = [
  [100, 60, 6_000, 6],
  [130, 30, 3_000, 3],
];

it.each([
  { why: 'all of the last hour counts', now: at(159) + 59_999, expected: 90 },
  { why: 'a minute leaves the window an hour after it began', now: at(160), expected: 30 },
  { why: 'and so does the last', now: at(190), expected: 0 },
])('$why', ({ now, expected }) => {
  expect(spent(account, now).calls).toBe(expected);
  expect(recent(account, now).reduce((sum, minute) => sum + minute[1], 0)).toBe(expected);
});

it.each([
  { why: 'there is room', limit: 96, now: at(140), wait: 0 },
  { why: 'one call too many: until the first minute leaves', limit: 95, now: at(140), wait: at(160) - at(140) },
  { why: 'the rest of it does not do: until the second leaves', limit: 35, now: at(140), wait: at(190) - at(140) },
  { why: 'in the middle of a minute', limit: 95, now: at(159) + 30_000, wait: 30_000 },
  {
    why: 'more than the whole budget: once nothing else is in the window',
    limit: 5,
    now: at(140),
    wait: at(190) - at(140),
  },
  { why: 'and then it goes through, for else it never would', limit: 5, now: at(190), wait: 0 },
])('$why', ({ limit, now, wait }) => expect(waitFor(account, calls(limit), six, now)).toBe(wait));

it.each<[keyof Budget, number]>([
  ['calls', 95],
  ['tokens', 9_599],
  ['cost', 9.59],
])('each unit has a limit of its own: %s', (unit, limit) => {
  const none: Budget = { calls: null, tokens: null, cost: null };
  expect(waitFor(account, { ...none, [unit]: limit }, six, at(140))).toBeGreaterThan(0);
  expect(waitFor(account, { ...none, [unit]: limit + 1 }, six, at(140))).toBe(0);
});

it('sums of money are not held against their rounding', () => {
  let paid: Account = [];
  for (let i = 0; i < 9; i++) paid = charge(paid, { calls: 1, tokens: 1, cost: 0.1 }, at(1), at(1));
  expect(waitFor(paid, { calls: null, tokens: null, cost: 1 }, { calls: 1, tokens: 1, cost: 0.1 }, at(1))).toBe(0);
});

describe('charge', () => {
  it('adds to a minute that is there', () =>
    expect(charge(account, six, at(130) + 5, at(131))).toEqual([account[0], [130, 36, 3_600, 3.6]]));
  it('keeps minutes in order, and forgets the old ones', () =>
    expect(charge(account, six, at(120), at(160))).toEqual([[120, 6, 600, 0.6], account[1]]));
  it('gives back in the minute that was charged', () =>
    expect(charge(account, { calls: -10, tokens: 0, cost: 0 }, at(100), at(131))[0]).toEqual([100, 50, 6_000, 6]));
  it('has nothing to correct in a minute that is out of the window', () =>
    expect(charge(account, six, at(100), at(160))).toEqual([account[1]]));
});

describe('what votes will take', () => {
  it('is the mean of the window', () => {
    const guess = { calls: 6, tokens: 1, cost: 1 };
    expect(estimate(account, guess, at(140))).toEqual({ calls: 6, tokens: 600, cost: expect.closeTo(0.6) as number });
    expect(estimate([], guess, at(140))).toBe(guess);
  });
  it('is guessed from the prompt, while nothing is known', () => {
    expect(guessOf(2, 4_000, 8_000, { prompt: 1, completion: 2 })).toEqual({ calls: 2, tokens: 3_000, cost: 0.004 });
    expect(guessOf(2, 4_000, 100, null)).toEqual({ calls: 2, tokens: 2_200, cost: 0 });
  });
});

it('what votes took: as counted, else as set aside, and nothing for a refusal', () => {
  const bill = { calls: 1, failed: null, cutOff: false, promptTokens: 70, completionTokens: 30, cost: 0.5 };
  const unknown = { promptTokens: null, completionTokens: null, cost: null };
  const bills = [
    bill,
    { ...bill, ...unknown, calls: 2 },
    { ...bill, ...unknown, failed: 'timeout', cutOff: true },
    { ...bill, ...unknown, failed: 'error', calls: 3 },
    { ...bill, ...unknown, failed: 'error', cutOff: true },
  ];
  expect(took(bills, { calls: 5, tokens: 1_000, cost: 5 })).toEqual({ calls: 8, tokens: 100 + 3 * 200, cost: 3.5 });
});

it('names what is left of the units that have a limit', () => {
  expect(left(account, { calls: 100, tokens: 1, cost: null }, at(140))).toEqual({ calls: 10, tokens: 0 });
});
