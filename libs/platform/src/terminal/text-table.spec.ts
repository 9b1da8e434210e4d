import { textTable } from './text-table';

it('a table is aligned, and only its last column is cut', () => {
  const rows = [['a much longer cell', 'a text that takes more room than is left of the line']];
  expect(textTable(['x', 'error'], rows, 42)).toBe(
    'x                   error\na much longer cell  a text that takes mor…',
  );
});

it('codes for colours take no room', () => {
  expect(textTable(['a', 'b'], [['\u001b[31mred\u001b[0m', 'x']])).toBe('a    b\n\u001b[31mred\u001b[0m  x');
});

it('without a width nothing is cut', () => {
  expect(textTable(['a', 'b'], [['x', 'y'.repeat(500)]])).toContain('y'.repeat(500));
});
