import { isUtf8 } from 'node:buffer';
import { withSource } from './core/exact-numbers';

/** The parsed body of a request with the JSON that it was parsed from. Bytes that are no UTF-8 were repaired in the parsing, and go no further. */
export const sourced = (body: unknown, bytes: Buffer | undefined): unknown =>
  withSource(body, bytes && isUtf8(bytes) ? bytes : undefined);
