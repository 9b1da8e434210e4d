/** Every error code of Hindcast; `docs/errors.md` lists each with its meaning and what to do, and a check compares both. */
export const errorCodes = {
  'config-invalid': { retry: false },
  'contract-violation': { retry: false },
  'dependency-unavailable': { retry: true },
  'max-deliveries': { retry: false },
  'handler-failed': { retry: true },
  'invalid-json': { retry: false },
  'invalid-request': { retry: false },
  'body-too-large': { retry: false },
  'model-not-found': { retry: false },
  'not-found': { retry: false },
  'turn-not-found': { retry: false },
  'dead-letter-not-found': { retry: false },
  'not-supported': { retry: false },
  unauthorized: { retry: false },
  forbidden: { retry: false },
  'rate-limited': { retry: true },
  'engine-unreachable': { retry: true },
  'engine-timeout': { retry: true },
  'engine-invalid-response': { retry: true },
  'engine-unauthorized': { retry: false },
  'engine-stream-broken': { retry: true },
  'ledger-unavailable': { retry: true },
  'policy-damaged': { retry: false },
  'disk-full': { retry: true },
  internal: { retry: true },
} as const satisfies Record<string, { retry: boolean }>;
export type ErrorCode = keyof typeof errorCodes;

/** An error with a code; `retry` says whether trying again can help, and that alone decides how a message is settled. */
export class HindcastError extends Error {
  override readonly name: string = 'HindcastError';
  constructor(
    readonly code: ErrorCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
  get retry(): boolean {
    return errorCodes[this.code].retry;
  }
}

/** A message that breaks its contract. No attempt can cure it: dead-lettered at once. */
export class ContractViolation extends HindcastError {
  override readonly name = 'ContractViolation';
  constructor(
    readonly subject: string,
    message: string,
    options?: ErrorOptions,
  ) {
    super('contract-violation', `${subject}: ${message}`, options);
  }
}

/** The database, the broker, an engine or the judge's budget is away. Retried for ever and counted as no delivery. */
export class DependencyUnavailable extends HindcastError {
  override readonly name = 'DependencyUnavailable';
  constructor(
    readonly dependency: string,
    message: string,
    readonly retryAfterMs = 1_000,
    options?: ErrorOptions,
  ) {
    super('dependency-unavailable', `${dependency}: ${message}`, options);
  }
}
