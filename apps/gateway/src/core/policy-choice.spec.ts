import { hash } from 'node:crypto';
import type { CurrentPolicy } from '@hindcast/contracts';
import { choosePolicy } from './policy-choice';

const sha256 = (text: string): string => hash('sha256', text, 'hex');
const stable = { version: 4, adapter: 'hindcast-v000004', engines: ['a', 'b'] };
const canary = { version: 5, adapter: 'hindcast-v000005', engines: ['b'], share: 0.2, at: 1 };
const policy = (over: Partial<CurrentPolicy> = {}): CurrentPolicy => ({
  ...stable,
  weights: 'named',
  canary,
  at: 1,
  ...over,
});
const versionFor = (key: string | null, over: Partial<CurrentPolicy> = {}): number =>
  choosePolicy(policy(over), key, sha256).version;
const keys = Array.from({ length: 5000 }, (_, i) => `session ${i}`);
const shareOf = (over: Partial<CurrentPolicy>): number =>
  keys.filter((key) => versionFor(key, over) === 5).length / keys.length;

it.each([0.01, 0.2, 0.5, 0.99])('a share of %d of the sessions gets the version on trial', (share) => {
  const found = shareOf({ canary: { ...canary, share } });
  // Four standard deviations of so many draws.
  expect(Math.abs(found - share)).toBeLessThan(4 * Math.sqrt((share * (1 - share)) / keys.length));
});

it('a session stays on its version, whatever the share was when it came', () => {
  for (const key of keys.slice(0, 200)) expect(versionFor(key)).toBe(versionFor(key));
  const first = keys.filter((key) => versionFor(key) === 5);
  const more = keys.filter((key) => versionFor(key, { canary: { ...canary, share: 0.3 } }) === 5);
  expect(first.every((key) => more.includes(key))).toBe(true);
});

it('another version’s trial meets other sessions', () => {
  const next = { ...canary, version: 6 };
  const both = keys.filter((key) => versionFor(key) === 5 && versionFor(key, { canary: next }) === 6);
  expect(both.length / keys.length).toBeCloseTo(0.04, 1);
  expect(both.length).toBeLessThan(keys.length * 0.08);
});

it.each([
  { why: 'no trial runs', key: 'session 1', over: { canary: null } },
  { why: 'nothing stays the same in the request', key: null, over: {} },
])('what serves answers when $why', ({ key, over }) => {
  expect(choosePolicy(policy(over), key, sha256)).toEqual(stable);
});
