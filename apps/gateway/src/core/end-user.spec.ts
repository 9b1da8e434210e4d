import { endUser } from './end-user';

it.each([
  { why: 'none', request: {}, expected: null },
  { why: 'the older name', request: { user: 'ann' }, expected: 'ann' },
  { why: 'the newer name', request: { safety_identifier: 'ann' }, expected: 'ann' },
  {
    why: 'both: `user` may be no more than a key of a cache',
    request: { user: 'cache-7', safety_identifier: 'ann' },
    expected: 'ann',
  },
  { why: 'an empty newer one says nothing', request: { user: 'ann', safety_identifier: ' ' }, expected: 'ann' },
  { why: 'a number', request: { user: 7 }, expected: '7' },
  { why: 'no text', request: { user: { id: 'ann' }, safety_identifier: null }, expected: null },
  { why: 'white space around it is not of it, as with sessions', request: { user: ' ann ' }, expected: 'ann' },
])('$why', ({ request, expected }) => {
  expect(endUser(request)).toBe(expected);
});
