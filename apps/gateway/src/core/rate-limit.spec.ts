import type { Limits } from './api-keys';
import { admit, charged, durationText, rateLimitHeaders, retryAfterSeconds, unused, type KeyUse } from './rate-limit';

const SECOND = 1000;

/** Plays events in order and returns what each request was told. */
function play(limits: Limits, events: readonly { at: number; charge?: number }[]) {
  let use: KeyUse = unused;
  return events.flatMap(({ at, charge }) => {
    if (charge !== undefined) {
      use = charged(use, limits, charge, at);
      return [];
    }
    const admission = admit(use, limits, at);
    use = admission.use;
    return [[admission.reached, Math.round(admission.waitMs)]];
  });
}
const requests = (perMinute: number): Limits => ({ requestsPerMinute: perMinute, tokensPerMinute: null });
const tokens = (perMinute: number): Limits => ({ requestsPerMinute: null, tokensPerMinute: perMinute });
const goesOn = [null, 0];

describe('limits', () => {
  it.each([
    {
      why: 'no limit',
      limits: { requestsPerMinute: null, tokensPerMinute: null },
      events: [{ at: 0 }, { at: 0, charge: 1e9 }, { at: 0 }],
      told: [goesOn, goesOn],
    },
    {
      why: 'a minute’s worth at once, then one each time it has refilled',
      limits: requests(2),
      events: [{ at: 0 }, { at: 0 }, { at: 0 }, { at: 30 * SECOND - 1 }, { at: 30 * SECOND }, { at: 30 * SECOND }],
      told: [goesOn, goesOn, ['requests', 30_000], ['requests', 1], goesOn, ['requests', 30_000]],
    },
    {
      why: 'a refused request takes nothing',
      limits: requests(1),
      events: [{ at: 0 }, { at: 1 }, { at: 2 }, { at: 60 * SECOND }],
      told: [goesOn, ['requests', 59_999], ['requests', 59_998], goesOn],
    },
    {
      why: 'never holds more than a minute’s worth',
      limits: requests(1),
      events: [{ at: 0 }, { at: 3600 * SECOND }, { at: 3600 * SECOND }],
      told: [goesOn, goesOn, ['requests', 60_000]],
    },
    {
      why: 'one answer may overdraw, the next request waits until it is made up for',
      limits: tokens(60),
      events: [{ at: 0 }, { at: 0, charge: 90 }, { at: 0 }, { at: 30 * SECOND }, { at: 31 * SECOND }],
      told: [goesOn, ['tokens', 31_000], ['tokens', 1_000], goesOn],
    },
    {
      why: 'requests that were admitted before the charge are not called back',
      limits: tokens(10),
      events: [{ at: 0 }, { at: 0 }, { at: 0, charge: 10 }, { at: 0, charge: 10 }, { at: 0 }],
      told: [goesOn, goesOn, ['tokens', 66_000]],
    },
    {
      why: 'with both reached it is the one that takes longer',
      limits: { requestsPerMinute: 60, tokensPerMinute: 60 },
      events: [...Array.from({ length: 60 }, () => ({ at: 0 })), { at: 0 }, { at: 0, charge: 100 }, { at: 0 }],
      told: [...Array.from({ length: 60 }, () => goesOn), ['requests', 1_000], ['tokens', 41_000]],
    },
    {
      why: 'a clock that goes back gives nothing and takes nothing',
      limits: requests(1),
      events: [{ at: 60 * SECOND }, { at: 0 }, { at: 60 * SECOND }],
      told: [goesOn, ['requests', 60_000], goesOn],
    },
    {
      why: 'thirds add up to a whole',
      limits: requests(3),
      events: [{ at: 0 }, { at: 0 }, { at: 0 }, { at: 6667 }, { at: 13_334 }, { at: 20_000 }],
      told: [goesOn, goesOn, goesOn, ['requests', 13_333], ['requests', 6666], goesOn],
    },
  ])('$why', ({ limits, events, told }) => expect(play(limits, events)).toEqual(told));

  it('that change keep what was used', () => {
    const used = admit(admit(unused, requests(2), 0).use, requests(2), 0).use;
    expect(admit(used, requests(100), 0).reached).toBe('requests');
    expect(admit(used, tokens(5), 0).reached).toBeNull();
    const ample = admit(unused, requests(100), 0).use;
    expect(admit(ample, requests(1), 0).requests).toEqual({ limit: 1, remaining: 0, resetMs: 60_000 });
  });

  it('set later begin with a full bucket', () => {
    const free = admit(unused, tokens(5), 0).use;
    expect(admit(free, requests(3), 10).requests).toMatchObject({ remaining: 2 });
  });
});

describe('what a caller is told', () => {
  it('headers only for limits that are set, none below zero', () => {
    expect(rateLimitHeaders(admit(unused, requests(60), 0))).toEqual({
      'x-ratelimit-limit-requests': '60',
      'x-ratelimit-remaining-requests': '59',
      'x-ratelimit-reset-requests': '1s',
    });
    const overdrawn = charged(unused, tokens(60), 150, 0);
    expect(rateLimitHeaders(admit(overdrawn, tokens(60), 0))).toEqual({
      'x-ratelimit-limit-tokens': '60',
      'x-ratelimit-remaining-tokens': '0',
      'x-ratelimit-reset-tokens': '2m30s',
    });
  });

  it.each([
    [0, '0s'],
    [0.0001, '0s'],
    [0.5, '1ms'],
    [999, '999ms'],
    [1000, '1s'],
    [1500, '1.5s'],
    [59_999.5, '1m0s'],
    [90_000, '1m30s'],
    [360_000, '6m0s'],
    [3_600_000, '1h0m0s'],
    [90_061_001, '25h1m1.001s'],
  ])('%d ms as %s', (ms, text) => expect(durationText(ms)).toBe(text));

  it.each([
    [0.2, 1],
    [1000, 1],
    [1000.0001, 1],
    [1001, 2],
    [60_000, 60],
  ])('Retry-After of %d ms is %d s', (ms, seconds) => expect(retryAfterSeconds(ms)).toBe(seconds));
});
