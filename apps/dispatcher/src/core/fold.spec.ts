import { folded, type TurnNews } from './fold';
import { applied, type TurnEvent } from './turn';

const turnId = '00000000-0000-4000-8000-000000000001';
const identity = { responseId: 'r', sessionId: null, policyVersion: 0 };
const paired = { kind: 'paired', identity } satisfies TurnEvent;
const decided = { kind: 'decided', identity, case: 'rl', reason: null } satisfies TurnEvent;
const news = (event: TurnEvent, rows?: string, at?: number): TurnNews<string> => ({
  turnId,
  tenant: 'acme',
  event,
  ...(rows !== undefined && { rows }),
  ...(at !== undefined && { at: new Date(at) }),
});

test('events that come together are one change, one revision ahead, with the rows of those that were news', () => {
  const result = folded(null, [news(paired, 'a'), news(decided, 'b'), news(decided, 'c'), news(paired, 'd')]);
  expect(result.isNews).toEqual([true, true, false, false]);
  expect(result.rows).toEqual(['a', 'b']);
  expect(result.turn).toMatchObject({ revision: 1, ending: 'paired', case: 'rl' });
});

test('nothing new is no change', () => {
  const before = applied(null, turnId, 'acme', paired);
  expect(folded(before, [news(paired, 'a')])).toEqual({ turn: null, isNews: [false], rows: [] });
});

test('a turn is as old as the first message about it, in whatever order they come', () => {
  const result = folded(null, [news(decided, 'a', 3_000), news(paired, 'b', 1_000)]);
  expect(result.turn?.createdAt).toEqual(new Date(1_000));
});
