import { EarlyRequests } from './early-requests';
import type { Outcome } from './spool-drain';

const HOUR_MS = 3_600_000;
const request = (id: string, sessionId: string | null = null, answer = '') => ({
  kind: 'continue' as const,
  id,
  sessionId,
  continuations: [
    { key: 'k', texts: { conversation: [], answer, nextState: [] }, context: 'c', isKnown: false, edited: null },
  ],
});

describe('requests that came early', () => {
  let now: number;
  let tried: string[];
  let seen: ReturnType<typeof request>[];
  let meets: (id: string) => Promise<Outcome>;
  let early: EarlyRequests;
  beforeEach(() => {
    [now, tried, seen, meets] = [1_000_000, [], [], () => Promise.resolve('early')];
    early = new EarlyRequests(
      (operation, at) => {
        seen.push(operation as ReturnType<typeof request>);
        tried.push(`${operation.id} of ${at}`);
        return meets(operation.id);
      },
      HOUR_MS,
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

  it('look for the key of an answer, and for no edited history', async () => {
    const edited = { exchange: 'e', length: 1, asked: 'a', isKnown: false };
    const { continuations, ...rest } = request('a');
    early.add({ ...rest, continuations: continuations.map((continuation) => ({ ...continuation, edited })) }, now);
    await early.leave(true);
    expect(seen.map((operation) => operation.continuations[0])).toEqual(continuations);
  });

  it('are kept for as long as the answer would stay open, whatever fails', async () => {
    meets = () => Promise.reject(new Error('away'));
    early.add(request('a'), now);
    const begin = now;
    for (; now < begin + HOUR_MS; now += 10_000) await early.retry();
    expect(early.size).toBe(1);
    expect(tried.length).toBeGreaterThan(100);
    now += 30_000;
    await early.retry();
    expect(early.size).toBe(0);
  });

  it.each([
    { why: 'number', count: 1_200, answer: '', left: 1_000 },
    { why: 'bytes', count: 40, answer: 'a'.repeat(1024 * 1024), left: 31 },
  ])('are bounded in $why: the oldest make room', async ({ count, answer, left }) => {
    for (let index = 0; index < count; index++) early.add(request(String(index), null, answer), now + index);
    const ids = (await early.leave(false)).map(({ id }) => id);
    expect(ids).toEqual(Array.from({ length: left }, (_, index) => String(count - left + index)));
  });

  it('those of one session are tried when it asks; what fails is said', async () => {
    for (const [id, session] of [
      ['a', 's'],
      ['b', 's'],
      ['c', 't'],
    ] as const)
      early.add(request(id, session), now);
    meets = (id) => Promise.resolve(id === 'a' ? 'done' : 'early');
    await early.retrySession('s');
    expect(tried).toEqual(['a of 1000000', 'b of 1000000']);
    expect(early.size).toBe(2);
    meets = () => Promise.reject(new Error('away'));
    await expect(early.retrySession('s')).rejects.toThrow('away');
    expect(early.size).toBe(2);
  });

  it('are tried once more at the end, and what is still early is left with the time at which it came', async () => {
    for (const id of ['a', 'b']) early.add(request(id), now);
    now += 5_000;
    meets = (id) => Promise.resolve(id === 'a' ? 'done' : 'early');
    expect(await early.leave(true)).toEqual([{ ...request('b'), at: 1_000_000 }]);
    expect(tried).toHaveLength(2);
    expect(early.size).toBe(0);
  });
});
