export type Json = Record<string, unknown>;

/** Why a request cannot be answered; the client gets a 400 that names the place. */
export class RequestFault extends Error {
  constructor(
    readonly param: string,
    what: string,
  ) {
    super(`${param}: ${what}`);
  }
}

export const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** @throws RequestFault */
export function objectAt(value: unknown, param: string): Json {
  if (!isObject(value)) throw new RequestFault(param, 'must be an object');
  return value;
}

/** @throws RequestFault */
export function listAt(value: unknown, param: string): readonly unknown[] {
  if (!Array.isArray(value)) throw new RequestFault(param, 'must be an array');
  return value;
}

/** @throws RequestFault */
export function stringAt(value: unknown, param: string): string {
  if (typeof value !== 'string') throw new RequestFault(param, 'must be a string');
  return value;
}
