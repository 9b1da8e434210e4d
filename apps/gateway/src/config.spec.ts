import { parseConfig } from '@hindcast/platform';
import { GatewayConfig } from './config';

const parse = (env: Record<string, string>): unknown => parseConfig('gateway', GatewayConfig, env);

it('refuses an address that others can reach without keys', () => {
  expect(() => parse({ HOST: '0.0.0.0' })).toThrow(/API_KEYS/);
  expect(() => parse({ HOST: '0.0.0.0', API_KEYS: `a:${'0'.repeat(64)}` })).not.toThrow();
  expect(() => parse({})).not.toThrow();
});

it.each<Record<string, string>>([
  { API_KEYS: 'x' },
  { POLICY_BASE_URL: 'not a url' },
  { POLICY_DIALECT: 'x' },
  { OFF_POLICY: 'x' },
  { MAX_BODY_BYTES: '-1' },
])('refuses %j', (env) => {
  expect(() => parse(env)).toThrow(/configuration/);
});
