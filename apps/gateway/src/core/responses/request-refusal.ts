/** A request of the Responses API that cannot be served, with what OpenAI's error body says of it. */
export class RequestRefusal extends Error {
  constructor(
    message: string,
    readonly param: string | null,
    readonly status: 400 | 404 = 400,
    /** OpenAI's own code where clients look for it. */
    readonly code: string | null = 'invalid-request',
  ) {
    super(message);
  }
}

type Json = Record<string, unknown>;

export const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** @throws RequestRefusal */
export function objectAt(value: unknown, param: string): Json {
  if (!isObject(value)) throw new RequestRefusal(`${param} must be an object`, param);
  return value;
}

/** @throws RequestRefusal */
export function textAt(value: unknown, param: string): string {
  if (typeof value !== 'string') throw new RequestRefusal(`${param} must be a string`, param);
  return value;
}

/** @throws RequestRefusal */
export function listAt(value: unknown, param: string): readonly unknown[] {
  if (!Array.isArray(value)) throw new RequestRefusal(`${param} must be an array`, param);
  return value;
}
