/**
 * Whether a failed query would fail again with the same data: a value that the column cannot hold (SQLSTATE class 22) or a broken
 * constraint (class 23). Everything else, from a lost connection to a missing table, is the database's trouble and passes when that does.
 */
export function isDataError(error: unknown): boolean {
  const state = sqlStateOf(error, 0);
  return state !== null && /^2[23]/.test(state);
}

/**
 * Whether a server that answers will not let this client in as it is: the user or the password is wrong (SQLSTATE class 28), or the
 * database is not there (3D000). Somebody has to change the address.
 */
export function isRefusedLogin(error: unknown): boolean {
  const state = sqlStateOf(error, 0);
  return state !== null && /^(28|3D000)/.test(state);
}

/** Whether a statement gave up waiting for a lock (`lock_timeout`). */
export const isLockTimeout = (error: unknown): boolean => sqlStateOf(error, 0) === '55P03';

/** The SQLSTATE somewhere inside Prisma's wrappings of a driver error. */
function sqlStateOf(error: unknown, depth: number): string | null {
  if (typeof error !== 'object' || error === null || depth > 4) return null;
  const { originalCode, code, cause, meta, driverAdapterError } = error as Record<string, unknown>;
  for (const candidate of [originalCode, code]) {
    if (typeof candidate === 'string' && /^[0-9A-Z]{5}$/.test(candidate) && !/^P\d{4}$/.test(candidate))
      return candidate;
  }
  for (const inner of [driverAdapterError, meta, cause]) {
    const found = sqlStateOf(inner, depth + 1);
    if (found !== null) return found;
  }
  return null;
}
