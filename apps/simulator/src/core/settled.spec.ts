import { isSettled, type Counts } from './settled';

const counts: Counts = {
  turns: { captured: 9, paired: 8, untrainable: 0, expired: 0, superseded: 0, failed: 0, open: 1 },
  cases: { opdRl: 8, opd: 0, rl: 0, drop: 0, deciding: 0 },
  waitingSamples: 3,
  batchSize: 4,
};
const deciding = { ...counts, cases: { ...counts.cases, deciding: 1 } };

it.each<[string, Counts, { captured: number; open?: number }, boolean, boolean]>([
  ['all is known and decided', counts, { captured: 9 }, false, true],
  ['a turn is missing', counts, { captured: 10 }, false, false],
  ['a turn is missing for long', counts, { captured: 10 }, true, true],
  ['a turn waits that should not', counts, { captured: 9, open: 0 }, false, false],
  ['a turn waits that did before', counts, { captured: 9, open: 1 }, false, true],
  ['a turn is to be decided', deciding, { captured: 9 }, true, false],
  ['a step is due', { ...counts, waitingSamples: 4 }, { captured: 9 }, true, false],
  ['no trainer has said its batch', { ...counts, waitingSamples: 4, batchSize: null }, { captured: 9 }, false, true],
])('%s', (_, now, awaited, isLate, settled) => expect(isSettled(now, awaited, isLate)).toBe(settled));
