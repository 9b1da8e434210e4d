import { CurrentPolicy } from './policy';

const before = { version: 3, adapter: 'hindcast-v000003', engines: ['http://e/v1'], at: 1 };
const canary = { version: 4, adapter: 'hindcast-v000004', engines: ['http://e/v1'], share: 0.1, at: 2 };

it('what a trainer wrote before there were trials and replaced weights is still read', () => {
  expect(CurrentPolicy.parse(before)).toEqual({ ...before, weights: 'named', canary: null });
});

it.each([
  { why: 'a share of nobody', over: { share: 0 } },
  { why: 'a share of everybody, which is no trial', over: { share: 1 } },
  { why: 'the base model on trial', over: { version: 0 } },
  { why: 'a field that nobody knows', over: { weight: 0.1 } },
])('refuses $why', ({ over }) => {
  expect(CurrentPolicy.safeParse({ ...before, canary }).success).toBe(true);
  expect(CurrentPolicy.safeParse({ ...before, canary: { ...canary, ...over } }).success).toBe(false);
});
