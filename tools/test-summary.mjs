// What `npm test` says in the end of jest's results.
import { relative } from 'node:path';

/**
 * Names of what failed: `file › full name of the test`, or the file alone where a suite failed and none of its tests did, as when it could
 * not be loaded or its clean-up threw.
 *
 * @param {{ testResults: { name: string, status: string, assertionResults: { status: string, fullName: string }[] }[] }} result of `jest --json`
 * @param {string} root files are named relative to it
 * @returns {string[]}
 */
export function failuresOf({ testResults }, root) {
  return testResults.flatMap(({ name, status, assertionResults }) => {
    const file = relative(root, name);
    const failed = assertionResults.filter((test) => test.status === 'failed');
    if (failed.length === 0 && status === 'failed') return [file];
    return failed.map(({ fullName }) => `${file} › ${fullName}`);
  });
}

/**
 * The last lines: every failure once more, so that the end of a log tells it, and the counts.
 *
 * @param {{ passed: number, failures: string[] }[]} runs
 */
export function summaryOf(runs) {
  const failures = runs.flatMap((run) => run.failures);
  const passed = runs.reduce((sum, run) => sum + run.passed, 0);
  const lines = failures.map((failure) => `failed: ${failure}`);
  return {
    passed,
    failed: failures.length,
    text: [...lines, `${passed} passed, ${failures.length} failed`, ''].join('\n'),
  };
}
