import type { TraceContext } from '@hindcast/contracts';

/** The parts of a `traceparent`. */
export interface TraceParent {
  /** 32 hex digits. */
  readonly traceId: string;
  /** 16 hex digits. */
  readonly spanId: string;
  /** The caller records its part of the trace. */
  readonly isSampled: boolean;
}

/** Both headers, in lower case on NATS as over HTTP. */
export const TRACEPARENT = 'traceparent';
export const TRACESTATE = 'tracestate';

/** What the specification asks everybody to hand on; a longer list is dropped. */
const MAX_TRACESTATE = 512;
const MAX_MEMBERS = 32;
const MAX_TRACEPARENT = 256;

const FORM = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const MEMBER = /^[a-z0-9][a-z0-9_\-*/@]{0,255}=[\x20-\x2b\x2d-\x3c\x3e-\x7e]{0,255}[\x21-\x2b\x2d-\x3c\x3e-\x7e]$/;
const ZEROS = /^0+$/;

/** `null` for what is no `traceparent`. Of a newer version than 00 the parts that are known count. */
export function readTraceparent(text: string): TraceParent | null {
  if (text.length > MAX_TRACEPARENT) return null;
  const [, version, traceId, spanId, flags, rest] = FORM.exec(text) ?? [];
  if (version === undefined || version === 'ff' || (version === '00' && rest !== undefined)) return null;
  if (ZEROS.test(traceId!) || ZEROS.test(spanId!)) return null;
  return { traceId: traceId!, spanId: spanId!, isSampled: (parseInt(flags!, 16) & 1) === 1 };
}

export const writeTraceparent = ({ traceId, spanId, isSampled }: TraceParent): string =>
  `00-${traceId}-${spanId}-${isSampled ? '01' : '00'}`;

/**
 * The context of two headers as they came; `null` where there is none, or none that can be read. A `tracestate` that is malformed or
 * too long is left out, and the trace goes on.
 */
export function traceContextOf(traceparent: unknown, tracestate?: unknown): TraceContext | null {
  if (typeof traceparent !== 'string') return null;
  const parts = readTraceparent(traceparent.trim());
  if (!parts) return null;
  const state = typeof tracestate === 'string' ? readTracestate(tracestate) : null;
  return { traceparent: writeTraceparent(parts), ...(state !== null && { tracestate: state }) };
}

function readTracestate(text: string): string | null {
  if (text.length > MAX_TRACESTATE) return null;
  const members = text
    .split(',')
    .map((member) => member.trim())
    .filter((member) => member !== '');
  const isWellFormed = members.length > 0 && members.length <= MAX_MEMBERS && members.every((one) => MEMBER.test(one));
  return isWellFormed ? members.join(',') : null;
}

/** A stored context, whoever wrote it; `null` for a record without one. */
export function storedTrace(value: unknown): TraceContext | null {
  const { traceparent, tracestate } = (value ?? {}) as { traceparent?: unknown; tracestate?: unknown };
  return traceContextOf(traceparent, tracestate);
}
