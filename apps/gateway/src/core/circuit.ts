/** What a failure says of an engine: it took no connection, broke one off, went silent, or answered with a server error. */
export type FailureKind = 'unreachable' | 'cut' | 'timeout' | 'status';

/** Whether an engine is asked at all. Times are milliseconds of one clock that never goes back. */
export type Circuit =
  | { readonly state: 'closed'; /** Failures in a row. */ readonly failures: number }
  | {
      readonly state: 'open' | 'half-open';
      /** From then on one request may try. While that one is under way, the next may once this time has come again. */
      readonly until: number;
      readonly cause: FailureKind;
    };

export interface CircuitSettings {
  /** Failures in a row that open it; 0: it never opens. */
  readonly threshold: number;
  readonly pauseMs: number;
}

export const closedCircuit: Circuit = { state: 'closed', failures: 0 };

/** Whether a request may be sent now. */
export const admits = (circuit: Circuit, now: number): boolean => circuit.state === 'closed' || now >= circuit.until;

/** A request is sent: through an open circuit it is the one that tries. */
export const entered = (circuit: Circuit, now: number, { pauseMs }: CircuitSettings): Circuit =>
  circuit.state === 'closed' ? circuit : { state: 'half-open', until: now + pauseMs, cause: circuit.cause };

/** The engine began an answer, which closes an open circuit. The answer may still break off, so failures before it count on. */
export const answered = (circuit: Circuit): Circuit => (circuit.state === 'closed' ? circuit : closedCircuit);

/** An answer came to its end: failures in a row begin anew. */
export const completed = (circuit: Circuit): Circuit => (circuit.state === 'closed' ? closedCircuit : circuit);

export function failed(circuit: Circuit, cause: FailureKind, now: number, settings: CircuitSettings): Circuit {
  const open: Circuit = { state: 'open', until: now + settings.pauseMs, cause };
  // Requests that were under way when it opened fail late; they do not prolong the pause.
  if (circuit.state !== 'closed') return circuit.state === 'half-open' ? open : circuit;
  const failures = circuit.failures + 1;
  return settings.threshold > 0 && failures >= settings.threshold ? open : { state: 'closed', failures };
}

/** The request that tried was given up before the engine said anything: the next one may try. */
export const abandoned = (circuit: Circuit, now: number): Circuit =>
  circuit.state === 'half-open' ? { state: 'open', until: now, cause: circuit.cause } : circuit;

/**
 * A health check succeeded. It proves as much as a request where the engine could not be reached or died; one that answers with
 * errors, or not in time, may still be healthy by its own account.
 */
export const foundHealthy = (circuit: Circuit): Circuit =>
  circuit.state !== 'closed' && (circuit.cause === 'unreachable' || circuit.cause === 'cut') ? closedCircuit : circuit;
