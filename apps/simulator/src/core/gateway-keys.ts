/** The variables that say who may call the gateway. */
const VARIABLES = ['API_KEYS', 'ADMIN_API_KEYS', 'API_KEYS_FILE'] as const;
export type GatewayKeys = Readonly<Record<(typeof VARIABLES)[number], string>>;

/** Name and tenant of the simulated users' key. */
const SIMULATED_USERS = 'simulated-users';

/** What is set of the variables; `null` where none is, and the gateway asks nobody for a key. */
export function keysOf(env: Readonly<Record<string, string | undefined>>): GatewayKeys | null {
  const keys = Object.fromEntries(VARIABLES.map((name) => [name, env[name] ?? ''])) as GatewayKeys;
  return VARIABLES.some((name) => keys[name] !== '') ? keys : null;
}

/** The same with one key more, which the simulated users have. @param sha256 of that key, hex */
export const withSimulatedUsers = (keys: GatewayKeys, sha256: string): GatewayKeys => ({
  ...keys,
  API_KEYS: [keys.API_KEYS, `${SIMULATED_USERS}:${sha256}`].filter((part) => part !== '').join(','),
});
