import { boxedMath } from './boxed-math';
import { lastBox } from './math/boxed';
import type { NextStateMessage } from './verdict';

const verdictOf = (answer: string, groundTruth: string | null, nextState: NextStateMessage[] = []) =>
  boxedMath({ answer, nextState, groundTruth });
const scoreOf = (box: string, truth: string): number | null => verdictOf(`So it is \\boxed{${box}}.`, truth).score;

describe('the last balanced box', () => {
  it.each([
    { text: '\\boxed{3}', box: '3', why: 'one' },
    { text: '\\boxed{1} no, \\boxed{2}', box: '2', why: 'the last of two' },
    { text: '\\boxed{\\frac{1}{2}}', box: '\\frac{1}{2}', why: 'nested braces' },
    { text: '\\boxed {7}', box: '7', why: 'a space before the brace' },
    { text: '\\boxed{\\{1, 2\\}}', box: '\\{1, 2\\}', why: 'escaped braces are none' },
    { text: '\\boxed{1} and \\boxed{2', box: '1', why: 'an open one is none' },
    { text: '{ f(x) = \\boxed{5}', box: '5', why: 'an open brace around it' },
    { text: '} \\boxed{5}', box: '5', why: 'a stray brace before it' },
    { text: '\\boxed{\\boxed{5}}', box: '\\boxed{5}', why: 'the outer of two' },
    { text: '\\boxed{}', box: '', why: 'an empty one' },
    { text: 'boxed{5} \\boxed 5 \\\\boxed{', box: null, why: 'none of these' },
  ])('$text → $box: $why', ({ text, box }) => {
    expect(lastBox(text)).toBe(box);
  });
});

describe('the same answer', () => {
  it.each<[box: string, truth: string]>([
    ['1/2', '\\frac{1}{2}'],
    ['\\dfrac{1}{2}', '0.5'],
    ['\\frac12', '.50'],
    ['\\frac{2}{4}', '\\tfrac{1}{2}'],
    ['-\\frac{1}{3}', '\\frac{-1}{3}'],
    ['\\frac{1}{-3}', '-1/3'],
    ['\\left(\\frac{3}{4}\\right)', '0.75'],
    ['\\frac{0.5}{2}', '1/4'],
    ['3\\frac{1}{2}', '3.5'],
    ['3 1/2', '7/2'],
    ['-3\\frac{1}{2}', '-3.5'],
    ['5.0', '5'],
    ['5.', '+5'],
    ['007', '7'],
    ['−4', '-4'],
    ['-0', '0'],
    ['50\\%', '0.5'],
    ['50\\%', '50'],
    ['50 %', '1/2'],
    ['12.5\\%', '12.5%'],
    ['50 \\text{ percent}', '50\\%'],
    ['1,234,567', '1234567'],
    ['1{,}234', '1234'],
    ['1\\,234', '1234'],
    ['1,\\!234', '1234'],
    ['1 234 567.5', '1234567.50'],
    ['1.5\\times 10^{3}', '1500'],
    ['1.5 \\cdot 10^3', '1.5e3'],
    ['2\\times10^{-2}', '0.02'],
    ['10^{10}', '10^10'],
    ['2^{10}', '1024'],
    ['10^{-3}', '\\frac{1}{1000}'],
    ['5 \\text{ cm}', '5'],
    ['5\\text{ cm}', '5 cm'],
    ['5\\,\\mathrm{cm}^2', '5 \\text{ cm}^{2}'],
    ['3 \\text{ hours}', '3 hour'],
    ['\\$12.50', '12.5'],
    ['$12.50$', '12.5'],
    ['12 \\text{ dollars}', '\\$12'],
    ['90^\\circ', '90'],
    ['90^{\\circ}', '90 \\text{ degrees}'],
    ['90°', '90\\degree'],
    ['x = 5', '5'],
    ['x_1=5', 'x_{1} = 5'],
    ['(1, 2)', '(1,2)'],
    ['\\left( \\frac{1}{2}, 3 \\right)', '(0.5, 3.0)'],
    ['1, 2, 3', '1,2,3'],
    ['1, 2', '(1, 2)'],
    ['1 \\text{ and } 2', '1, 2'],
    ['1, 2, and 3', '1, 2, 3'],
    ['\\{3, 1, 2\\}', '\\{1, 2, 3\\}'],
    ['\\{1/2, 1/3\\}', '\\lbrace 0.5, \\frac{1}{3} \\rbrace'],
    ['[0, 1)', 'x \\in [0,1)'],
    ['((1,2),(3,4))', '((1, 2), (3, 4))'],
    ['(0,1) \\cup (2,3)', '(0, 1)\\cup(2, 3)'],
    ['\\text{Paris}', 'paris'],
    ['New  York', '\\textbf{new york}'],
    ['(B)', 'B'],
    ['\\text{(B)}', '\\textbf{B}'],
    ['\\sqrt2', '\\sqrt{2}'],
    ['\\frac{\\sqrt{3}}{2}', '\\dfrac{\\sqrt3}{2}'],
    ['2\\pi', '2 \\pi'],
    ['x^2 + 1', 'x^2+1'],
    ['\\mathbf{v}', 'v'],
    ['\\boxed{5}', '\\boxed{5}'],
    ['5', 'The answer is \\boxed{5}.'],
    ['\\infty', '\\infty'],
  ])('%s is %s', (box, truth) => {
    expect(scoreOf(box, truth)).toBe(1);
    expect(scoreOf(lastBox(truth) ?? truth, box)).toBe(1);
  });
});

describe('another answer', () => {
  it.each<[box: string, truth: string, why: string]>([
    ['1/3', '0.333', 'a rounded value is not the exact one'],
    ['0.1', '0.10000000000000000001', 'twenty digits are twenty digits'],
    ['12345678901234567891', '12345678901234567890', 'beyond what a float tells apart'],
    ['5', '-5', 'a sign'],
    ['1/2', '2', 'upside down'],
    ['5 \\text{ cm}', '5 \\text{ m}', 'another unit'],
    ['5 \\text{ cm}', '5 \\text{ cm}^2', 'another dimension'],
    ['50\\%', '5', 'not this per cent'],
    ['50\\%', '0.5\\%', 'both are per cent'],
    ['1,234', '1.234', 'the decimal sign is the point'],
    ['1,23', '123', 'no group of thousands'],
    ['(1, 2)', '(2, 1)', 'an ordered list'],
    ['1, 2', '2, 1', 'an ordered list'],
    ['(0, 1)', '[0, 1]', 'another interval'],
    ['(0, 1]', '[0, 1)', 'another interval'],
    ['\\{1, 2\\}', '\\{1, 2, 2\\}', 'another number of things'],
    ['\\{1, 1\\}', '\\{1, 2\\}', 'one thing stands for one'],
    ['(1, 2)', '1', 'a list is no number'],
    ['5x', '5', 'a letter is no unit'],
    ['5', '5 or 6', 'a part is not all'],
    ['2+3', '5', 'an answer is a number, not a sum to be done'],
    ['\\frac{1}{0}', '0', 'there is no such number'],
    ['\\frac{1}{0}5', '5', 'nor is there this one'],
    ['\\sqrt{4}', '2', 'nothing is evaluated'],
    ['', '0', 'nothing is not zero'],
    ['\\text{no}', 'yes', 'another word'],
    ['A', '(B)', 'another choice'],
    ['9^{99999}', '9', 'a power that is not computed'],
    ['1e9999', '1', 'nor this'],
  ])('%s is not %s: %s', (box, truth) => {
    expect(scoreOf(box, truth)).toBe(-1);
    expect(scoreOf(truth, box === '' ? 'x' : box)).toBe(-1);
  });
});

describe('boxed-math', () => {
  const tool: NextStateMessage = { role: 'tool', text: '\\boxed{7}', toolName: 'calculator' };
  it.each([
    {
      answer: '\\boxed{5}',
      truth: null,
      next: [],
      score: null,
      detail: 'no ground truth',
      why: 'nothing to compare with',
    },
    {
      answer: '\\boxed{5}',
      truth: '  ',
      next: [],
      score: null,
      detail: 'no ground truth',
      why: 'an empty truth is none',
    },
    {
      answer: 'It is 5.',
      truth: '5',
      next: [],
      score: -1,
      detail: 'no box',
      why: 'an answer cannot avoid the comparison',
    },
    {
      answer: 'Let me compute.',
      truth: '7',
      next: [tool],
      score: null,
      detail: 'no box, but a tool was called',
      why: 'a step is not the answer, and a tool’s box is not the answer’s',
    },
    { answer: '\\boxed{6}', truth: '7', next: [tool], score: -1, detail: '6 against 7', why: 'a box is an answer' },
    {
      answer: '<think>\\boxed{7}</think> It is \\boxed{6}',
      truth: '7',
      next: [],
      score: -1,
      detail: '6 against 7',
      why: 'thinking',
    },
    {
      answer: '<think>\\boxed{7}\n[… 90000 characters cut …]\nmore</think> It is \\boxed{6}',
      truth: '6',
      next: [],
      score: 1,
      detail: '6 against 6',
      why: 'a long answer was cut',
    },
    {
      answer: '<think>\\boxed{7}\n[… 90000 characters cut …]\nIt is \\boxed{6}',
      truth: '6',
      next: [],
      score: 1,
      detail: '6 against 6',
      why: 'the end of its thinking was cut out',
    },
    { answer: '<think>\\boxed{7}', truth: '7', next: [], score: -1, detail: 'no box', why: 'thinking without end' },
    {
      answer: `\\boxed{${'9'.repeat(5000)}}`,
      truth: '9'.repeat(5000),
      next: [],
      score: 1,
      why: 'too long to take apart, and the same',
    },
    {
      answer: `\\boxed{${'9'.repeat(5000)}}`,
      truth: '9'.repeat(5001),
      next: [],
      score: -1,
      why: 'too long, and another',
    },
  ])('$answer against $truth → $score: $why', ({ answer, truth, next, score, detail }) => {
    const verdict = verdictOf(answer, truth, next);
    expect(verdict.score).toBe(score);
    if (detail !== undefined) expect(verdict.detail).toBe(detail);
  });
});
