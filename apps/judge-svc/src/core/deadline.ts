/** What is said of a vote that its deadline ended. */
export type Overdue = 'timeout' | 'error' | 'breaker-open';

/**
 * What a vote's deadline cut off says by itself is a matter of chance: a judge that fails again and again is between two failures at
 * any time, and as likely as not a new try has just begun. So a request counts as what the vote was lost by only where it took the
 * larger part of its time, or nothing came before it.
 *
 * @param before what the tries before came to; `null` when there were none
 * @param underWayMs how long the request had been under way, of `elapsedMs` since the vote's first worker slot
 */
export function cutOffAs(before: Exclude<Overdue, 'timeout'> | null, underWayMs: number, elapsedMs: number): Overdue {
  return before === null || underWayMs * 2 > elapsedMs ? 'timeout' : before;
}
