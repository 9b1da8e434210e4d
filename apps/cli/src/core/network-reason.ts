interface Cause {
  readonly name?: unknown;
  readonly message?: unknown;
  readonly code?: unknown;
  readonly cause?: unknown;
}

/** Why a request came to nothing, in as few words as there are: the innermost code, else the innermost message. */
export function reasonOf(error: unknown): string {
  const chain: Cause[] = [];
  for (let current = error; typeof current === 'object' && current !== null && chain.length < 8;) {
    chain.push(current);
    current = (current as Cause).cause;
  }
  if (chain.some(({ name }) => name === 'TimeoutError')) return 'no answer in time';
  const code = chain.map((cause) => cause.code).findLast(isText);
  const message = chain.map((cause) => cause.message).findLast(isText);
  return code ?? message ?? String(error);
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';
