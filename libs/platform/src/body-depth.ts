import { HindcastError } from '@hindcast/contracts';

/** Levels of a request body. A conversation with tools has about twenty. */
export const MAX_DEPTH = 256;

/** Bodies that were found not to be deeper while they were read. */
const measured = new WeakSet<object>();

/** Who reads a body value by value says so of one that has at most `MAX_DEPTH` levels: it is not walked again. */
export const depthIsMeasured = (body: object): void => void measured.add(body);

/**
 * Refuses a body that is nested so deep that whoever walks it by recursion, `JSON.stringify` first of all, runs out of stack. Goes down
 * one value after the other, so that it holds one path and never a level: a level may be most of the body.
 *
 * @throws HindcastError `invalid-request`
 */
export function checkDepth(body: unknown): void {
  if (typeof body === 'object' && body !== null && measured.has(body)) return;
  walk(body, 1);
}

function walk(value: unknown, depth: number): void {
  if (typeof value !== 'object' || value === null) return;
  if (depth > MAX_DEPTH)
    throw new HindcastError('invalid-request', `the body is nested deeper than ${MAX_DEPTH} levels`);
  if (Array.isArray(value)) for (const inner of value as unknown[]) walk(inner, depth + 1);
  else for (const name in value) walk((value as Record<string, unknown>)[name], depth + 1);
}
