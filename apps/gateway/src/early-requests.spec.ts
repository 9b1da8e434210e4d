import { EarlyRequests } from './early-requests';
import type { Outcome } from './spool-drain';

const request = (id: string) => ({ kind: 'continue', id, sessionId: null, continuations: [] }) as const;

describe('requests that came early', () => {
  let now: number;
  let tried: string[];
  let meets: (id: string) => Promise<Outcome>;
  let early: EarlyRequests;
  beforeEach(() => {
    [now, tried, meets] = [1_000_000, [], () => Promise.resolve('early')];
    early = new EarlyRequests(
      ({ id }, at) => {
        tried.push(`${id} of ${at}`);
        return meets(id);
      },
      () => now,
    );
  });

  it('are tried again after a pause, until the answer is there', async () => {
    early.add(request('a'), now);
    await early.retry();
    expect(tried).toEqual([]);
    now += 1_000;
    await early.retry();
    meets = () => Promise.resolve('done');
    now += 4_000;
    await early.retry();
    expect(tried).toEqual(['a of 1000000', 'a of 1000000']);
    expect(early.size).toBe(0);
  });

  it('are given up after half a minute, whatever fails', async () => {
    meets = () => Promise.reject(new Error('away'));
    early.add(request('a'), now);
    for (let second = 0; second < 60; second++) {
      now += 1_000;
      await early.retry();
    }
    expect(early.size).toBe(0);
    expect(tried.length).toBeGreaterThan(3);
  });

  it('are tried once more at the end, and are never too many', async () => {
    for (let index = 0; index < 600; index++) early.add(request(String(index)), now);
    expect(early.size).toBe(500);
    await early.lastCall();
    expect(tried).toHaveLength(500);
    expect(early.size).toBe(0);
  });
});
