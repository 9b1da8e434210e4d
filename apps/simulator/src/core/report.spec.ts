import type { LedgerStatus } from '@hindcast/contracts';
import { demoReport, imbalances } from './report';

const ledger: LedgerStatus = {
  turns: { captured: 12, paired: 8, untrainable: 1, expired: 1, superseded: 0, failed: 1, open: 1 },
  cases: { opdRl: 2, opd: 1, rl: 3, drop: 2, deciding: 0 },
  reasons: {},
  waitingSamples: 2,
  samplesTrained: 4,
  steps: 1,
  versionsPublished: 1,
  policyVersion: 1,
};

describe('imbalances', () => {
  it('is empty when the books balance', () => expect(imbalances(ledger)).toEqual([]));
  it('names each equation that does not hold, with its numbers', () => {
    const wrong = imbalances({ turns: { ...ledger.turns, captured: 13 }, cases: { ...ledger.cases, deciding: 1 } });
    expect(wrong).toEqual([expect.stringContaining('captured 13 ≠ 12'), expect.stringContaining('paired 8 ≠ 9')]);
  });
});

it('reports exactly the documented fields', () => {
  const heldOut = {
    before: { rule: 0.2, form: 0.95, klPerAnswer: 0 },
    after: { rule: 0.8, form: 0.9, klPerAnswer: 3 },
  };
  const report = demoReport(
    { sessions: 3, persona: 'ta', feedback: 'mixed', method: 'combine', seed: 1 },
    ledger,
    [false, true, true],
    heldOut,
    '/x/v000001',
    { turns: { ...ledger.turns, captured: 5 }, versionsPublished: 0 },
  );
  expect(report).toEqual({
    method: 'combine',
    persona: 'ta',
    feedback: 'mixed',
    seed: 1,
    sessions: 3,
    turns: ledger.turns,
    cases: { opdRl: 2, opd: 1, rl: 3, drop: 2 },
    samplesTrained: 4,
    steps: 1,
    versions: 1,
    servedVersion: 1,
    ruleRate: { first10: 2 / 3, last10: 2 / 3 },
    heldOut: { before: 0.2, after: 0.8 },
    wellFormed: { before: 0.95, after: 0.9 },
    klPerAnswer: 3,
    sessionsTo: { threeInARow: null, eightOfTen: null },
    adapterDir: '/x/v000001',
    earlier: { captured: 5, versions: 0 },
  });
});
