import type { ServiceOptions } from '@hindcast/platform';

/** Waits are short, so that a test sees in a second what takes a minute in production. */
export const SHORT_TIMING: NonNullable<ServiceOptions['timing']> = {
  ackWaitMs: 1_000,
  retryBaseMs: 50,
  retryMaxMs: 200,
};
