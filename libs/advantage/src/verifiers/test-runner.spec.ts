import { testRunner } from './test-runner';
import type { VerifiableTurn } from './verdict';

const turn = (...texts: string[]): VerifiableTurn => ({
  answer: 'Tests: 5 passed, 5 total',
  nextState: texts.map((text) => ({ role: 'tool', text, toolName: 'shell' })),
  groundTruth: null,
});
const scoreOf = (...texts: string[]): number | null => testRunner(turn(...texts)).score;
const lines = (...all: string[]): string => all.join('\n');
const jestOutput = (suites: string, tests: string): string =>
  lines(`Test Suites: ${suites}`, `Tests:       ${tests}`, 'Snapshots:   0 total', 'Time:        1.2 s');

describe('test-runner', () => {
  it.each([
    { name: 'jest, all pass', text: jestOutput('2 passed, 2 total', '1 skipped, 5 passed, 6 total'), score: 1 },
    {
      name: 'jest, one fails',
      text: jestOutput('1 failed, 1 passed, 2 total', '1 failed, 5 passed, 6 total'),
      score: -1,
    },
    {
      name: 'jest, a file that cannot be loaded',
      text: jestOutput('1 failed, 1 passed, 2 total', '5 passed, 5 total'),
      score: -1,
    },
    { name: 'jest, nothing ran', text: jestOutput('0 of 1 total', '3 skipped, 3 total'), score: null },
    {
      name: 'vitest, all pass',
      text: lines(' Test Files  2 passed (2)', '      Tests  9 passed | 1 skipped (10)'),
      score: 1,
    },
    {
      name: 'vitest, some fail',
      text: lines(' Test Files  1 failed | 1 passed (2)', '      Tests  2 failed | 7 passed (9)'),
      score: -1,
    },
    {
      name: 'vitest, an error outside of tests',
      text: lines(' Test Files  1 passed (1)', '      Tests  3 passed (3)', '     Errors  1 error'),
      score: -1,
    },
    {
      name: 'vitest, a file that cannot be loaded',
      text: lines(' Test Files  1 failed (1)', '      Tests  no tests'),
      score: -1,
    },
    {
      name: 'vitest in colour',
      text: '\u001b[2m      Tests \u001b[22m \u001b[1m\u001b[32m3 passed\u001b[39m\u001b[22m (3)',
      score: 1,
    },
    { name: 'pytest, all pass', text: '===== 12 passed, 1 warning in 0.34s =====', score: 1 },
    { name: 'pytest, some fail', text: '==== 1 failed, 11 passed, 2 skipped in 61.34s (0:01:01) ====', score: -1 },
    { name: 'pytest, an error in a fixture', text: '===== 3 passed, 1 error in 0.34s =====', score: -1 },
    { name: 'pytest -q', text: '3 passed in 0.01s', score: 1 },
    { name: 'pytest, as expected', text: '===== 2 xfailed in 0.01s =====', score: 1 },
    { name: 'pytest, nothing ran', text: '==== no tests ran in 0.01s ====', score: null },
    { name: 'pytest, all skipped', text: '==== 4 skipped in 0.01s ====', score: null },
    { name: 'unittest, all pass', text: lines('Ran 3 tests in 0.001s', '', 'OK'), score: 1 },
    { name: 'unittest, one fails', text: lines('Ran 3 tests in 0.001s', '', 'FAILED (failures=1)'), score: -1 },
    { name: 'unittest, nothing ran', text: lines('Ran 0 tests in 0.000s', '', 'OK'), score: null },
    {
      name: 'go test, all pass',
      text: lines('ok  \texample.org/a\t0.012s', 'ok  \texample.org/b\t(cached)'),
      score: 1,
    },
    {
      name: 'go test, one fails',
      text: lines('--- FAIL: TestSum (0.00s)', 'FAIL', 'FAIL\texample.org/a\t0.010s'),
      score: -1,
    },
    { name: 'go test, does not build', text: 'FAIL\texample.org/a [build failed]', score: -1 },
    { name: 'go test -v', text: lines('=== RUN   TestSum', '--- PASS: TestSum (0.00s)', 'PASS'), score: 1 },
    { name: 'go test, no test files', text: '?   \texample.org/a\t[no test files]', score: null },
    { name: 'go test, nothing ran', text: 'ok  \texample.org/a\t0.010s [no tests to run]', score: null },
    {
      name: 'cargo test, all pass',
      text: 'test result: ok. 7 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.01s',
      score: 1,
    },
    {
      name: 'cargo test, one fails',
      text: 'test result: FAILED. 6 passed; 1 failed; 0 ignored; 0 measured',
      score: -1,
    },
    {
      name: 'cargo test, an empty crate beside a full one',
      text: lines('test result: ok. 0 passed; 0 failed; 0 ignored;', 'test result: ok. 2 passed; 0 failed; 0 ignored;'),
      score: 1,
    },
    {
      name: 'cargo test, nothing ran',
      text: 'test result: ok. 0 passed; 0 failed; 0 ignored; 0 measured',
      score: null,
    },
    { name: 'mocha, all pass', text: lines('  3 passing (12ms)', '  1 pending'), score: 1 },
    { name: 'mocha, one fails', text: lines('  3 passing (12ms)', '  1 failing'), score: -1 },
    { name: 'mocha, nothing ran', text: '  0 passing (1ms)', score: null },
    { name: 'node:test, all pass', text: lines('ℹ tests 3', 'ℹ pass 3', 'ℹ fail 0'), score: 1 },
    { name: 'node:test, one fails', text: lines('ℹ tests 3', 'ℹ pass 2', 'ℹ fail 1'), score: -1 },
    { name: 'TAP, all pass', text: lines('TAP version 13', 'ok 1 - adds', 'ok 2 - subtracts', '1..2'), score: 1 },
    { name: 'TAP, one fails', text: lines('1..2', 'ok 1 - adds', 'not ok 2 - subtracts'), score: -1 },
    { name: 'TAP, a failure to come', text: lines('1..2', 'ok 1', 'not ok 2 - later # TODO not written'), score: 1 },
    {
      name: 'TAP, a failure inside of a point',
      text: lines('1..1', '    not ok 1 - of a retry', 'ok 1 - at last'),
      score: 1,
    },
    { name: 'TAP, given up', text: lines('1..9', 'ok 1', 'Bail out! no database'), score: -1 },
    { name: 'TAP, nothing ran', text: '1..0 # skipped', score: null },
    { name: 'words like TAP', text: lines('ok then', 'not ok with me'), score: null },
    { name: 'JUnit by Maven, all pass', text: '[INFO] Tests run: 5, Failures: 0, Errors: 0, Skipped: 1', score: 1 },
    { name: 'JUnit by Maven, an error', text: '[ERROR] Tests run: 5, Failures: 0, Errors: 1, Skipped: 0', score: -1 },
    { name: 'JUnit by Maven, all skipped', text: 'Tests run: 2, Failures: 0, Errors: 0, Skipped: 2', score: null },
    { name: 'JUnit 4', text: 'OK (5 tests)', score: 1 },
    { name: 'JUnit 4, one fails', text: 'Tests run: 5,  Failures: 1', score: -1 },
    {
      name: 'JUnit 5',
      text: lines('[         5 tests successful      ]', '[         0 tests failed          ]'),
      score: 1,
    },
    {
      name: 'JUnit 5, one fails',
      text: lines('[         4 tests successful      ]', '[         1 tests failed          ]'),
      score: -1,
    },
    { name: 'a JUnit report', text: '<?xml version="1.0"?><testsuites tests="2" failures="0" errors="0">', score: 1 },
    {
      name: 'a JUnit report, one fails',
      text: '<testsuite name="a" tests="2" skipped="0" failures="1" errors="0" time="0.1">',
      score: -1,
    },
    { name: 'a JUnit report, nothing ran', text: '<testsuite name="a" tests="0" failures="0">', score: null },
    { name: 'inside of JSON', text: JSON.stringify({ output: lines('  3 passing (12ms)', '  1 failing') }), score: -1 },
    { name: 'several runners, one fails', text: lines('3 passed in 0.01s', '  1 failing'), score: -1 },
    { name: 'with carriage returns', text: '3 passed in 0.01s\r\n', score: 1 },
    { name: 'prose', text: 'Yesterday 3 passed and 1 failed the exam.', score: null },
    { name: 'nothing', text: '', score: null },
  ])('$name → $score', ({ text, score }) => {
    expect(scoreOf(text)).toBe(score);
  });

  it('one failed run of several decides', () => {
    expect(scoreOf('3 passed in 0.01s', '4 passed in 0.01s')).toBe(1);
    expect(scoreOf('3 passed in 0.01s', '1 failed in 0.01s', '4 passed in 0.01s')).toBe(-1);
  });

  it('says what it read', () => {
    expect(testRunner(turn(jestOutput('2 passed, 2 total', '5 passed, 5 total'))).detail).toBe(
      'jest or vitest: 5 passed',
    );
    expect(testRunner(turn('test result: FAILED. 6 passed; 1 failed; 0 ignored')).detail).toBe('cargo test: 1 failed');
    expect(testRunner(turn('  0 passing (1ms)')).detail).toBe('mocha: no test ran');
  });

  it('neither a user nor the answer can vote', () => {
    const said = { role: 'user', text: '3 passed in 0.01s', toolName: null };
    expect(testRunner({ ...turn(), nextState: [said] })).toEqual({
      verifier: 'test-runner',
      score: null,
      detail: 'no tool result',
    });
  });
});
