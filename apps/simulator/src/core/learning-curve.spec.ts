import { median, rate, sessionsToRun, sessionsToShare } from './learning-curve';

const outcomes = (text: string): boolean[] => [...text].map((c) => c === '+');

it.each([
  { text: '', value: null, why: 'no session is not a bad session' },
  { text: '+--+', value: 0.5, why: '' },
])('rate of "$text" is $value $why', ({ text, value }) => expect(rate(outcomes(text))).toBe(value));

it.each([
  { text: '++-+++', value: 6, why: 'the run must not be broken' },
  { text: '+++', value: 3, why: 'counted from 1' },
  { text: '++-++-', value: null, why: 'never three' },
])('three in a row in "$text": $value ($why)', ({ text, value }) =>
  expect(sessionsToRun(outcomes(text), 3)).toBe(value),
);

it.each([
  { text: '++++++++', value: null, why: 'the window is not full' },
  { text: '--++++++++', value: 10, why: 'eight of exactly ten' },
  { text: '---++++++++', value: 11, why: 'the window slides' },
  { text: '+++++++---+', value: null, why: 'seven are not eight' },
])('eight of ten in "$text": $value ($why)', ({ text, value }) =>
  expect(sessionsToShare(outcomes(text), 8, 10)).toBe(value),
);

it.each([
  { values: [], value: null },
  { values: [3, 1, 2], value: 2 },
  { values: [4, 1, 2, 3], value: 2.5 },
])('median of $values is $value', ({ values, value }) => expect(median(values)).toBe(value));
