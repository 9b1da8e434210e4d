import { wholeNumber } from './whole-number';

it.each(['', '0', '1.5', 'x', '1e99'])('%j is no whole number from 1 on', (text) => {
  expect(() => wholeNumber(1)(text)).toThrow('a whole number from 1 on');
});

it.each([
  ['1', 1],
  ['0', 0],
  ['20', 20],
])('reads %j', (text, value) => expect(wholeNumber(0)(text)).toBe(value));
