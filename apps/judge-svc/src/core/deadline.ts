/** What tries that brought no completion came to. */
export type FailedTries = 'error' | 'breaker-open';

/** What a vote without a reply was lost by. */
export type Loss = FailedTries | 'timeout';

/**
 * Whether a vote's deadline finds a request under way is chance: a judge that fails again and again is always between two failures, and a
 * new try may just have begun. So the request that the deadline cut off is what the vote was lost by only where it took the larger part
 * of the vote's time, or no try had failed before it.
 *
 * @param before what the tries before came to; `null` when there were none
 * @param underWayMs how long the request had been under way, of `elapsedMs` since the vote's first worker slot
 */
export function cutOffAs(before: FailedTries | null, underWayMs: number, elapsedMs: number): Loss {
  return before === null || underWayMs * 2 > elapsedMs ? 'timeout' : before;
}
