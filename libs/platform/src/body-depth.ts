import { HindcastError } from '@hindcast/contracts';

/** Levels of a request body. A conversation with tools has about twenty. */
const MAX_DEPTH = 256;

/**
 * Refuses a body that is nested so deep that whoever walks it by recursion, `JSON.stringify` first of all, runs out of stack. Itself
 * it keeps its own stack.
 *
 * @throws HindcastError `invalid-request`
 */
export function checkDepth(body: unknown): void {
  let level: object[] = isObject(body) ? [body] : [];
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > MAX_DEPTH)
      throw new HindcastError('invalid-request', `the body is nested deeper than ${MAX_DEPTH} levels`);
    const next: object[] = [];
    for (const value of level)
      for (const inner of Array.isArray(value) ? (value as unknown[]) : (Object.values(value) as unknown[]))
        if (isObject(inner)) next.push(inner);
    level = next;
  }
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;
