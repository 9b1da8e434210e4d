import type { DemoReport } from './report';
import { reportLines } from './report-lines';

const report: DemoReport = {
  method: 'combine',
  persona: 'student',
  feedback: 'mixed',
  seed: 1,
  sessions: 40,
  turns: { captured: 70, paired: 70, untrainable: 0, expired: 0, superseded: 0, failed: 0, open: 0 },
  cases: { opdRl: 2, opd: 1, rl: 3, drop: 2 },
  samplesTrained: 4,
  steps: 1,
  versions: 1,
  servedVersion: 1,
  ruleRate: { first10: 0.2, last10: 0.8 },
  heldOut: { before: 0.2, after: 0.8 },
  wellFormed: { before: 0.9, after: 0.9 },
  klPerAnswer: 3,
  sessionsTo: { threeInARow: 28, eightOfTen: null },
  adapterDir: '/x',
  earlier: { captured: 0, versions: 0 },
};

it('says in words when the rule was met, and counts one as one', () => {
  const text = reportLines(report).join('\n');
  expect(text).toMatch(/three times in a row +after 28 sessions\n/);
  expect(text).toMatch(/eight of ten +never\n/);
  expect(text).toContain('4 samples, 1 step, 1 version published; version 1 serves');
  expect(text).not.toContain('together');
});

it('tells this run from those before it', () => {
  const lines = reportLines({ ...report, versions: 9, earlier: { captured: 60, versions: 4 } });
  const together = lines.findIndex((line) => line.includes('together'));
  expect(lines[together - 1]).toMatch(/this run +10 captured, 5 published$/);
  expect(lines.slice(together + 1).join('\n')).toContain('70 captured');
});
