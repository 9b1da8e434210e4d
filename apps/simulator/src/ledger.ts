import { LedgerStatus } from '@hindcast/contracts';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { isSettled } from './core/settled';
import type { Stack } from './stack/stack';

const Status = LedgerStatus.pick({ turns: true, cases: true, waitingSamples: true, policyVersion: true }).extend({
  batchSize: z.int().positive().nullable(),
  samplesTrained: z.int().nonnegative(),
  steps: z.int().nonnegative(),
  versionsPublished: z.int().nonnegative(),
  reasons: z.record(z.string(), z.int()),
});
export type Status = z.infer<typeof Status>;

const POLL_MS = 50;
/** An answer that was released before its capture was stored is announced late, or never. */
const CAPTURE_PATIENCE_MS = 5_000;

/** A gateway, and the key that it knows its callers by where it asks for one. */
export interface Gateway {
  readonly gatewayUrl: string;
  readonly apiKey?: string | undefined;
}

export const authorization = (apiKey: string | undefined): Record<string, string> =>
  apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` };

export async function status(gatewayUrl: string, apiKey?: string): Promise<Status> {
  const response = await fetch(`${gatewayUrl}/v1/status`, {
    headers: authorization(apiKey),
    signal: AbortSignal.timeout(5_000),
  });
  if (!response.ok) throw new Error(`/v1/status answered ${response.status}`);
  return Status.parse(await response.json());
}

/** As {@link status}, with patience for a ledger that is away or slow. */
export async function statusWithin({ gatewayUrl, apiKey }: Gateway, patienceMs: number): Promise<Status> {
  const end = performance.now() + patienceMs;
  for (;;) {
    try {
      return await status(gatewayUrl, apiKey);
    } catch (error) {
      if (performance.now() >= end) throw error;
      await sleep(POLL_MS);
    }
  }
}

/**
 * Waits until the ledger knows `captured` turns, has decided all of them, and a due step is published or refused. Parts that are away
 * are waited for; `onWaiting` says for what.
 */
export async function whenSettled(
  stack: Stack,
  captured: number,
  options: {
    readonly patienceMs: number;
    readonly onWaiting: (message: string) => void;
    /** Turns that may still wait for what comes after them. */
    readonly open?: number;
    /** After so long, what the ledger has not heard of may never come. */
    readonly lateMs?: number;
  },
): Promise<Status> {
  const start = performance.now();
  let saidAt = start;
  for (;;) {
    const now = await status(stack.gatewayUrl, stack.apiKey).catch(() => null);
    const elapsed = performance.now() - start;
    if (now) {
      const isLate = elapsed > (options.lateMs ?? CAPTURE_PATIENCE_MS);
      if (isSettled(now, { captured, ...(options.open === undefined ? {} : { open: options.open }) }, isLate))
        return now;
    }
    if (elapsed > options.patienceMs)
      throw new Error(
        `turns were not settled within ${Math.round(options.patienceMs / 1000)} s: ${JSON.stringify(now)}`,
      );
    if (performance.now() - saidAt > 5_000) {
      saidAt = performance.now();
      options.onWaiting(waitingFor(stack, now));
    }
    await sleep(POLL_MS);
  }
}

function waitingFor(stack: Stack, now: Status | null): string {
  const [ended] = stack.ended();
  if (ended) return stack.told(ended);
  if (!now) return 'waiting for the ledger';
  return `waiting: ${now.cases.deciding} turns to decide, ${now.waitingSamples} samples for a step of ${now.batchSize ?? '?'}`;
}
