import { isAscii, isUtf8 } from 'node:buffer';
import { randomUUID } from 'node:crypto';
import { MAX_DEPTH, RequestMemory, checkDepth, depthIsMeasured, longJson } from '@hindcast/platform';
import { markLength } from './core/byte-order-mark';
import { hasOutline } from './core/exact-numbers';
import { outlineOf } from './core/request-outline';
import { parseUtf8Json } from './core/utf8-json';

/** In a shorter body no content is long. */
const LONG_BODY = 8_192;
const MARK = randomUUID();

/**
 * A long request as `longJson` reads it, but that the long contents of its messages are not decoded before somebody reads them.
 *
 * @param memory holds them meanwhile
 */
export function readLongRequest(bytes: Buffer, memory = new RequestMemory()): unknown {
  if (bytes.length < LONG_BODY || !isUtf8(bytes) || markLength(bytes) > 0) return longJson(bytes);
  return withUnread(bytes, memory) ?? decoded(bytes);
}

function withUnread(bytes: Buffer, memory: RequestMemory): object | undefined {
  const outline = outlineOf(bytes, memory, MARK);
  if (!outline) return undefined;
  let body: unknown;
  try {
    body = JSON.parse(outline.json.toString());
    checkDepth(body);
  } catch {
    // To be refused for what it is.
    return undefined;
  }
  if (!outline.fill(body, memory)) return undefined;
  depthIsMeasured(body as object);
  hasOutline(body as object, outline);
  return body as object;
}

function decoded(bytes: Buffer): unknown {
  if (isAscii(bytes)) return longJson(bytes);
  let body: unknown;
  try {
    body = parseUtf8Json(bytes.toString('latin1'), MAX_DEPTH);
  } catch {
    return undefined;
  }
  if (typeof body !== 'object' || body === null) return longJson(bytes);
  depthIsMeasured(body);
  return body;
}
