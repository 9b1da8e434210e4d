import fc from 'fast-check';
import { booksOf, type TurnGroup } from './books';

const group: fc.Arbitrary<TurnGroup> = fc.record({
  ending: fc.constantFrom('open', 'paired', 'untrainable', 'expired', 'superseded', 'failed'),
  case: fc.constantFrom('opdRl', 'opd', 'rl', 'drop', null),
  reason: fc.option(fc.string(), { nil: null }),
  count: fc.nat(1_000_000),
});

test('the books balance, whatever is in them', () => {
  fc.assert(
    fc.property(fc.array(group), (groups) => {
      const { turns, cases } = booksOf(groups);
      expect(turns.paired + turns.untrainable + turns.expired + turns.superseded + turns.failed + turns.open).toBe(
        turns.captured,
      );
      expect(cases.opdRl + cases.opd + cases.rl + cases.drop + cases.deciding).toBe(turns.paired);
    }),
  );
});

test('reasons are of drops, untrainable and failed turns', () => {
  const { reasons } = booksOf([
    { ending: 'paired', case: 'drop', reason: 'no-signal', count: 2 },
    { ending: 'paired', case: 'drop', reason: 'refused:stale', count: 1 },
    { ending: 'paired', case: 'rl', reason: 'teacher:template-mismatch', count: 4 },
    { ending: 'untrainable', case: null, reason: 'no-signal', count: 3 },
    { ending: 'failed', case: null, reason: 'dead-letter:max-deliveries', count: 1 },
    { ending: 'expired', case: null, reason: 'expired', count: 9 },
  ]);
  expect(reasons).toEqual({ 'dead-letter:max-deliveries': 1, 'no-signal': 5, 'refused:stale': 1 });
});
