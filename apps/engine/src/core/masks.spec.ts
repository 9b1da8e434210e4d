import { causalMask, MASKED, paddingMask } from './masks';

/** Rows of `x` where a score is masked and `.` where it counts. */
function drawn(mask: Float32Array, width: number): string[] {
  const cells = Array.from(mask, (value) => (value === MASKED ? 'x' : value === 0 ? '.' : '?'));
  return Array.from({ length: cells.length / width }, (_, row) => cells.slice(row * width, (row + 1) * width).join(''));
}

it('hides what lies behind a row’s length', () => {
  expect(drawn(paddingMask([1, 4, 0], 4), 4)).toEqual(['.xxx', '....', 'xxxx']);
});

it.each([
  { blocks: [1], groups: 3, rows: ['.', '.', '.'], why: 'one new token sees itself, for every query head of a group' },
  { blocks: [3], groups: 1, rows: ['.xx', '..x', '...'], why: 'no token sees a later one' },
  { blocks: [1, 2], groups: 2, rows: ['.xx', 'x.x', 'x..', '.xx', 'x.x', 'x..'], why: 'no sequence sees another' },
])('$blocks, $groups: $why', ({ blocks, groups, rows }) => {
  const size = blocks.reduce((sum, count) => sum + count, 0);
  expect(drawn(causalMask(blocks, groups), size)).toEqual(rows);
});
