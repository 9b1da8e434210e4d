import fc from 'fast-check';
import { GUARD_NAMES, guardHits } from '../guards/guard-hits';
import { VERIFIER_NAMES, verify } from './verify';
import type { VerifiableTurn } from './verdict';

const turn = (text: string): VerifiableTurn => ({
  answer: text,
  nextState: [{ role: 'tool', text, toolName: null }],
  groundTruth: text.slice(0, 10_000),
});

describe('verify', () => {
  it('gives a verdict for each name, in their order', () => {
    const verdicts = verify(['http-status', 'exit-code'], turn('HTTP/1.1 500 Oops\nexit code: 0'));
    expect(verdicts.map(({ verifier, score }) => [verifier, score])).toEqual([
      ['http-status', -1],
      ['exit-code', 1],
    ]);
    expect(verify([], turn(''))).toEqual([]);
  });
  it('refuses a name that is none', () => {
    expect(() => verify(['exitcode'], turn(''))).toThrow(
      'there is no verifier exitcode; there are exit-code, http-status, boxed-math, test-runner',
    );
    expect(() => verify(['constructor'], turn(''))).toThrow(RangeError);
  });
});

/** What the patterns begin with, and what could make them search again and again. */
const PIECES = [
  'exit code: ',
  'exit_code":',
  'Exit code ',
  'exited with ',
  '<returncode>',
  'HTTP/1.1 ',
  'HTTP ',
  'status code ',
  '"status":',
  '404 ',
  '\\boxed{',
  '\\boxed',
  '{',
  '}',
  '\\{',
  '\\frac',
  '\\frac{1}{',
  '\\text{',
  '(',
  ')',
  '[',
  ',',
  '1',
  '9',
  '1,',
  '1 ',
  '1/',
  '^',
  '-',
  '%',
  '*',
  'Tests:  ',
  'Tests  ',
  '1 failed, ',
  '1 passed ',
  'ok ',
  'not ok ',
  '1..2',
  'FAIL\t',
  '--- FAIL: ',
  'Tests run: 1, ',
  '<testsuite ',
  '=',
  '\u001b[',
  '\u001b]',
  '\u001b[1m',
  ';',
  '\n',
  '\r',
  '\t',
  ' ',
  '"',
  ':',
  'a',
  '🎉',
  '我',
  '\\',
  '`',
  '```',
  '~~~',
  '<think>',
  '</think>',
  '<|',
  '|>',
  '[HINT_START]',
  '{"a":',
  '[[',
  '{"a":[',
  '\u0000',
  '\ud800',
];

/** Those of them that begin something and do not end it: a pattern that backtracks would take them again from every place. */
const UNFINISHED = [
  'exit code: ',
  '<returncode>',
  'HTTP ',
  '"status":',
  '\\boxed{',
  '\\frac{1}{',
  '{',
  '(',
  '[',
  '{"a":[',
  '1,',
  '1 ',
  '1 failed, ',
  'not ok ',
  '<testsuite ',
  '=',
  '\u001b[',
  '\u001b]',
  '\n',
  ' ',
  '我',
  '```',
  '<think>',
  '</think>',
  '<|',
];

describe('hostile texts', () => {
  it.each(UNFINISHED)('a quarter of a megabyte of %j is read, and gives verdicts that can be sent', (piece) => {
    const text = piece.repeat(Math.ceil(250_000 / piece.length));
    for (const verdict of verify(VERIFIER_NAMES, turn(text))) expect(verdict.detail.length).toBeLessThanOrEqual(1000);
    guardHits(GUARD_NAMES, text);
  });
  it('two hundred kilobytes of any three pieces are read', () => {
    const piece = fc.constantFrom(...PIECES);
    fc.assert(
      fc.property(piece, piece, piece, (a, b, c) => {
        const text = (a + b + c).repeat(Math.ceil(200_000 / (a + b + c).length));
        verify(VERIFIER_NAMES, turn(text));
        guardHits(GUARD_NAMES, text);
      }),
      { numRuns: 12 },
    );
  });
  it('for any text every verifier says −1, +1 or abstains, and says why', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 300 }),
      fc.array(fc.constantFrom(...PIECES), { maxLength: 60 }).map((pieces) => pieces.join('')),
      fc.json(),
    );
    fc.assert(
      fc.property(text, (any) => {
        for (const { score, detail } of verify(VERIFIER_NAMES, turn(any))) {
          expect([-1, 1, null]).toContain(score);
          expect(detail).not.toBe('');
        }
        expect(verify(VERIFIER_NAMES, turn(any))).toEqual(verify(VERIFIER_NAMES, turn(any)));
        guardHits(GUARD_NAMES, any);
      }),
      { numRuns: 200 },
    );
  });
});
