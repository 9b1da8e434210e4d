import { keysOf, withSimulatedUsers } from './gateway-keys';

it('asks nobody for a key where none is set', () => {
  expect(keysOf({})).toBeNull();
  expect(keysOf({ API_KEYS: '', ADMIN_API_KEYS: '', PATH: '/bin' })).toBeNull();
});

it('keeps the keys that are set, and adds the one of the simulated users', () => {
  const keys = keysOf({ ADMIN_API_KEYS: 'root:aa', PATH: '/bin' });
  expect(keys).toEqual({ API_KEYS: '', ADMIN_API_KEYS: 'root:aa', API_KEYS_FILE: '' });
  expect(withSimulatedUsers(keys!, 'bb')).toEqual({ ...keys, API_KEYS: 'simulated-users:bb' });
  expect(withSimulatedUsers({ ...keys!, API_KEYS: 'ann:cc' }, 'bb').API_KEYS).toBe('ann:cc,simulated-users:bb');
});
