import { setTimeout as sleep } from 'node:timers/promises';

/** Waits until `condition` holds; the test's own timeout ends a wait for ever. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await sleep(20);
}
