import { writtenIds } from './written-ids';

it.each([
  ['none', []],
  ['one', [0]],
  ['the largest', [2_147_483_647, 2_147_483_647]],
  ['several lengths', [0, 9, 10, 99, 100, 128_000, 7]],
])('writes %s as JSON does', (_, ids) => {
  expect(`[${writtenIds(Int32Array.from(ids))}]`).toBe(JSON.stringify(ids));
});
