/** How many tests a line of a test runner's output says have passed and failed. */
export interface TestCounts {
  readonly passed: number;
  readonly failed: number;
}

/** Reads a summary, or the result of one test, from a trimmed line; `null` when the line is none of its runner's. */
type LineReader = (line: string) => TestCounts | null;

const PASSED = /^(?:passed|xpassed|xfailed)$/;
const FAILED = /^(?:failed|errors?|failures?)$/;

/** `1 failed, 2 passed` · `1 failed | 5 passed (6)`: the numbers before the words that mean passed or failed. */
function countsOf(list: string): TestCounts {
  let passed = 0;
  let failed = 0;
  for (const [, count, word] of list.matchAll(/(\d{1,9}) ([a-z]+)/g)) {
    if (PASSED.test(word!)) passed += Number(count);
    else if (FAILED.test(word!)) failed += Number(count);
  }
  return { passed, failed };
}

/** A reader from a pattern and what its groups mean. */
const reader =
  (pattern: RegExp, counts: (...groups: string[]) => TestCounts): LineReader =>
  (line) => {
    const match = pattern.exec(line);
    return match === null ? null : counts(...match.slice(1).map((group) => group ?? ''));
  };
const failures = (failed: number): TestCounts => ({ passed: 0, failed });
const passes = (passed: number): TestCounts => ({ passed, failed: 0 });

/** By runner; a line is read by the first that knows it. */
export const LINE_READERS: Readonly<Record<string, readonly LineReader[]>> = {
  // Tests:       1 failed, 2 passed, 3 total · Tests  1 failed | 5 passed (6)
  'jest or vitest': [
    reader(/^Tests(?::|[ ]) +(\S.*)$/, countsOf),
    // A file that could not be loaded has no tests that fail, and passed files are no tests.
    reader(/^(?:Test Suites:|Test Files|Errors) +(\S.*)$/, (list) => failures(countsOf(list!).failed)),
  ],
  // ==== 1 failed, 2 passed in 0.12s ====
  pytest: [reader(/^(?:=+ )?(\d+ [a-z]+(?:, \d+ [a-z]+)*) in \d+(?:\.\d+)?s\b/, countsOf)],
  unittest: [
    reader(/^Ran (\d{1,9}) tests? in /, (ran) => passes(Number(ran))),
    reader(/^FAILED \((?:failures|errors|unexpected successes)=/, () => failures(1)),
  ],
  // ok  	pkg	0.01s · FAIL	pkg	0.01s · FAIL	pkg [build failed] · --- FAIL: TestX (0.00s)
  'go test': [
    reader(/^ok\s+\S+\s+(?:\(cached\)|\d+\.\d+s)(.*)$/, (rest) => passes(/\[no tests to run\]/.test(rest!) ? 0 : 1)),
    reader(/^FAIL\s+\S+\s+(?:\d+\.\d+s|\[(?:build|setup) failed\])/, () => failures(1)),
    reader(/^--- (PASS|FAIL): /, (result) => (result === 'PASS' ? passes(1) : failures(1))),
  ],
  'cargo test': [
    reader(/^test result: (?:ok|FAILED)\. (\d{1,9}) passed; (\d{1,9}) failed;/, (passed, failed) => ({
      passed: Number(passed),
      failed: Number(failed),
    })),
  ],
  mocha: [
    reader(/^(\d{1,9}) passing(?: \(\S+\))?$/, (passed) => passes(Number(passed))),
    reader(/^(\d{1,9}) failing$/, (failed) => failures(Number(failed))),
  ],
  'node:test': [
    reader(/^[#ℹ] (pass|fail) (\d{1,9})$/, (result, count) =>
      result === 'pass' ? passes(Number(count)) : failures(Number(count)),
    ),
  ],
  // Tests run: 5, Failures: 1, Errors: 0, Skipped: 0 · OK (5 tests) · [  1 tests failed  ]
  JUnit: [
    reader(
      /^(?:\[\w+\] +)?Tests run: (\d{1,9}), +Failures: (\d{1,9})(?:, +Errors: (\d{1,9}))?(?:, +Skipped: (\d{1,9}))?/,
      (run, failed, errors, skipped) => suite(Number(run), Number(failed) + Number(errors), Number(skipped)),
    ),
    reader(/^OK \((\d{1,9}) tests?\)$/, (passed) => passes(Number(passed))),
    reader(/^\[ *(\d{1,9}) tests (successful|failed) *\]$/, (count, result) =>
      result === 'failed' ? failures(Number(count)) : passes(Number(count)),
    ),
  ],
};

/** Counts of a suite that says how many tests it has, how many failed, and how many it left out. */
const suite = (tests: number, failed: number, skipped: number): TestCounts => ({
  passed: Math.max(0, tests - failed - skipped),
  failed,
});

/** `<testsuite tests="5" failures="1" errors="0" skipped="1">` of a JUnit report, anywhere in the text. */
export function junitReport(text: string): TestCounts[] {
  return Array.from(text.matchAll(/<testsuites?\s[^<>]{0,2000}>/g), ([tag]) => {
    const attribute = (name: string): number => Number(new RegExp(` ${name}="(\\d{1,9})"`).exec(tag)?.[1] ?? 0);
    return suite(attribute('tests'), attribute('failures') + attribute('errors'), attribute('skipped'));
  });
}

/**
 * Test points of a Test Anything Protocol stream, which its version or plan tells: `ok 1 - …`, `not ok 2 - …`. Points marked TODO or
 * SKIP count as neither, indented ones belong to a point that counts, and `Bail out!` is a failure.
 */
export function tapPoints(lines: readonly string[]): TestCounts {
  const isTap = lines.some((line) => /^(?:TAP version \d+|1\.\.\d+\b)/.test(line));
  let passed = 0;
  let failed = 0;
  for (const line of isTap ? lines : []) {
    if (line.startsWith('Bail out!')) failed++;
    const point = /^(not )?ok\b/.exec(line);
    if (point === null || /#\s*(?:TODO|SKIP)/i.test(line)) continue;
    if (point[1] === undefined) passed++;
    else failed++;
  }
  return { passed, failed };
}
