import { painter } from './painter';

it.each<[boolean, Record<string, string>, boolean]>([
  [true, {}, true],
  [true, { NO_COLOR: '' }, true],
  [true, { NO_COLOR: '1' }, false],
  [true, { TERM: 'dumb' }, false],
  [false, {}, false],
  [false, { FORCE_COLOR: '1' }, false],
])('on a terminal: %s, with %j: colours %s', (isTerminal, env, isOn) => {
  const paint = painter(isTerminal, env);
  expect(paint.isOn).toBe(isOn);
  expect(paint.paint('x', 'red')).toBe(isOn ? '\u001b[31mx\u001b[0m' : 'x');
  expect(paint.bold('x')).toBe(isOn ? '\u001b[1mx\u001b[0m' : 'x');
});

it('shades blue above zero and orange below, the deeper the farther', () => {
  const { shade } = painter(true, {});
  expect(shade('x', 1)).toBe('\u001b[38;5;16;48;2;143;184;240mx\u001b[0m');
  expect(shade('x', -1)).toBe('\u001b[38;5;16;48;2;242;183;124mx\u001b[0m');
  expect(shade('x', 7)).toBe(shade('x', 1));
  expect(shade('x', 0)).toBe('\u001b[38;5;16;48;2;245;245;245mx\u001b[0m');
});
