import { LINE_READERS, junitReport, tapPoints, type TestCounts } from './test-summaries';
import { toolResults } from './tool-results';
import { verdictsOf, type Verifier } from './verdict';

const { passed, failed, abstained } = verdictsOf('test-runner');

/** A summary is shorter; the rest of a long line is not read. */
const LINE_CHARS = 500;
const readers = Object.entries(LINE_READERS).flatMap(([runner, all]) => all.map((read) => ({ runner, read })));

/**
 * What test runners say in the results of the tools that the answer called: tests ran and none failed → +1, any failed → −1.
 *
 * Reads the summaries of jest, vitest, pytest, unittest, go test, cargo test, mocha, node:test and JUnit, JUnit's XML reports and TAP.
 * Every result and summary counts, and one failed test decides. Abstains where no test ran.
 */
export const testRunner: Verifier = (turn) => {
  const results = toolResults(turn);
  if (results.length === 0) return abstained('no tool result');
  const found = results.flatMap(({ texts }) => texts.flatMap(summariesIn));
  const total = (of: 'passed' | 'failed'): number => found.reduce((sum, counts) => sum + counts[of], 0);
  const runners = [...new Set(found.map(({ runner }) => runner))].join(', ');
  if (total('failed') > 0) return failed(`${runners}: ${total('failed')} failed`);
  if (total('passed') > 0) return passed(`${runners}: ${total('passed')} passed`);
  return abstained(found.length > 0 ? `${runners}: no test ran` : `no test summary in ${results.length} tool results`);
};

interface Summary extends TestCounts {
  readonly runner: string;
}

function summariesIn(text: string): Summary[] {
  const lines = text
    .split(/\r\n?|\n/)
    .filter((line) => line !== '')
    .map((line) => line.slice(0, LINE_CHARS));
  const summaries: Summary[] = junitReport(text).map((counts) => ({ runner: 'JUnit', ...counts }));
  const tap = tapPoints(lines);
  if (tap.passed + tap.failed > 0) summaries.push({ runner: 'TAP', ...tap });
  for (const line of lines) {
    const summary = summaryOf(line.trim());
    if (summary !== null) summaries.push(summary);
  }
  return summaries;
}

function summaryOf(line: string): Summary | null {
  for (const { runner, read } of readers) {
    const counts = read(line);
    if (counts !== null) return { runner, ...counts };
  }
  return null;
}
