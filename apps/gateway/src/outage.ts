import { ContractViolation } from '@hindcast/contracts';
import { JetStreamApiError } from '@nats-io/jetstream';
import { errors } from '@nats-io/nats-core';

const MESSAGE_TOO_LARGE = 10054;

/** Errors that the same message meets again, whatever becomes of the server. */
const isOfTheMessage = (error: Error): boolean =>
  error instanceof ContractViolation ||
  error instanceof errors.InvalidArgumentError ||
  error instanceof errors.InvalidSubjectError ||
  error instanceof TypeError ||
  error instanceof RangeError ||
  error instanceof SyntaxError ||
  (error instanceof JetStreamApiError && error.code === MESSAGE_TOO_LARGE);

/** Whether NATS may take the same later: it is away, slow or full. What it can never take is no outage. */
export function isOutage(error: unknown): boolean {
  for (let at = error; at instanceof Error; at = at.cause) if (isOfTheMessage(at)) return false;
  return error instanceof Error;
}
