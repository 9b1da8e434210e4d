import { ContractViolation, DependencyUnavailable, HindcastError, type ErrorCode } from '@hindcast/contracts';

/**
 * What becomes of a delivery after its handler ended.
 *
 *   handler                      settlement
 *   resolved                     ack
 *   DependencyUnavailable        wait, then call the handler again: no delivery is spent
 *   ContractViolation            bury: no attempt can cure it
 *   anything else                retry: the message goes back and comes again later
 */
export type Settlement =
  | { readonly kind: 'ack' }
  | { readonly kind: 'wait'; readonly retryAfterMs: number }
  | { readonly kind: 'retry' }
  | { readonly kind: 'bury'; readonly code: ErrorCode };

export function settlementOf(outcome: { ok: true } | { ok: false; error: unknown }): Settlement {
  if (outcome.ok) return { kind: 'ack' };
  const { error } = outcome;
  if (error instanceof DependencyUnavailable) return { kind: 'wait', retryAfterMs: error.retryAfterMs };
  if (error instanceof ContractViolation) return { kind: 'bury', code: error.code };
  return { kind: 'retry' };
}

/** The reason to bury a message before its handler is called, or `null`. */
export function exhausted(deliveries: number, maxDeliveries: number): HindcastError | null {
  if (deliveries <= maxDeliveries) return null;
  return new HindcastError('max-deliveries', `delivered ${deliveries} times, at most ${maxDeliveries} are handled`);
}
