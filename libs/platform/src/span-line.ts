import type { HrTime, SpanContext } from '@opentelemetry/api';
import type { ReadableSpan } from '@opentelemetry/sdk-trace-base';

const milliseconds = ([seconds, nanoseconds]: HrTime): number => seconds * 1e3 + nanoseconds / 1e6;
const named = ({ traceId, spanId }: SpanContext): string => `${traceId}/${spanId}`;

/** A span as a line of JSON: times in ms, links as trace and span. */
export function spanLine(span: ReadableSpan): string {
  const { traceId, spanId } = span.spanContext();
  return JSON.stringify({
    span: span.name,
    traceId,
    spanId,
    parentSpanId: span.parentSpanContext?.spanId ?? null,
    start: new Date(milliseconds(span.startTime)).toISOString(),
    durationMs: milliseconds(span.duration),
    attributes: span.attributes,
    links: span.links.map(({ context }) => named(context)),
  });
}
