import { boundsOf, bytesOf, crowdedOut, newestWithin } from './list-bounds';
import type { Ending, OpenTurn } from './open-turn';

const turn = (turnId: string, ending: Ending | null = null): OpenTurn => ({
  turnId,
  tenant: 't',
  sessionId: null,
  context: 'c',
  openedAt: 1,
  captured: {
    responseId: turnId,
    sessionId: null,
    policyVersion: 0,
    model: 'seed',
    promptTokens: 1,
    completionTokens: 1,
    finishReason: 'stop',
    untrainable: null,
    userId: null,
    outcomePending: false,
  },
  announced: true,
  ending,
});
const closed: Ending = { kind: 'closed', at: 2, by: 'x', body: { reason: 'superseded', detail: null } };

describe('newestWithin', () => {
  const a = { id: 'a' };
  const b = { id: 'b' };
  const long = { id: 'ä'.repeat(40) };
  it.each([
    { why: 'all fit', entries: [a, b], count: 2, bytes: 100, kept: [a, b] },
    { why: 'too many: the oldest goes', entries: [a, b], count: 1, bytes: 100, kept: [b] },
    { why: 'too long: the oldest goes', entries: [a, b], count: 9, bytes: bytesOf(b), kept: [b] },
    { why: 'exactly as long as it may be', entries: [a, b], count: 9, bytes: bytesOf(a) + bytesOf(b), kept: [a, b] },
    { why: 'bytes count, not characters', entries: [long, b], count: 9, bytes: 80, kept: [b] },
    { why: 'none fits', entries: [a], count: 9, bytes: 1, kept: [] },
    { why: 'no entries', entries: [], count: 9, bytes: 1, kept: [] },
  ])('$why', ({ entries, count, bytes, kept }) => {
    expect(newestWithin(entries, { count, bytes })).toEqual(kept);
  });
  it('is the same list where all fit', () => {
    const entries = [a, b];
    expect(newestWithin(entries, boundsOf(1_000))).toBe(entries);
  });
});

describe('crowdedOut', () => {
  const endedOf = (turns: readonly OpenTurn[]): string[] =>
    turns.filter(({ ending }) => ending !== null).map(({ turnId }) => turnId);
  it('closes the oldest open turns, and says why', () => {
    const turns = crowdedOut([turn('1'), turn('2'), turn('3')], { count: 1, bytes: 10_000 }, 7);
    expect(turns.map(({ turnId, ending }) => [turnId, ending?.body])).toEqual([
      ['1', { reason: 'expired', detail: 'too many open turns of one conversation' }],
      ['2', { reason: 'expired', detail: 'too many open turns of one conversation' }],
      ['3', undefined],
    ]);
  });
  it('leaves alone what has an ending, and does not count it', () => {
    const turns = [turn('1', closed), turn('2')];
    expect(crowdedOut(turns, { count: 1, bytes: 10_000 }, 7)).toBe(turns);
    expect(endedOf(crowdedOut([...turns, turn('3')], { count: 1, bytes: 10_000 }, 7))).toEqual(['1', '2']);
  });
});
