import { isUtf8 } from 'node:buffer';
import { MAX_DEPTH, RequestMemory, depthIsMeasured, longJson } from '@hindcast/platform';
import { markLength } from './core/byte-order-mark';
import { parseUtf8Json } from './core/utf8-json';

/** In a shorter body no content is long. */
const LONG_BODY = 8_192;

/**
 * A long request as `longJson` reads it, but that the long contents of its messages are not decoded before somebody reads them.
 *
 * @param memory holds them meanwhile
 */
export function readLongRequest(bytes: Buffer, memory = new RequestMemory()): unknown {
  if (bytes.length < LONG_BODY || !isUtf8(bytes) || markLength(bytes) > 0) return longJson(bytes);
  let body: unknown;
  try {
    body = parseUtf8Json(bytes.toString('latin1'), MAX_DEPTH, memory);
  } catch {
    return undefined;
  }
  if (typeof body !== 'object' || body === null) return longJson(bytes);
  depthIsMeasured(body);
  return body;
}
