import type { ReadableSpan } from '@opentelemetry/sdk-trace-base';
import { spanLine } from './span-line';

it('is one line that names the span, its trace, its parent and its links', () => {
  const context = { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), traceFlags: 1 };
  const span = {
    name: 'gate',
    spanContext: () => context,
    parentSpanContext: { ...context, spanId: 'c'.repeat(16) },
    startTime: [1, 500_000_000],
    duration: [0, 2_500_000],
    attributes: { 'hindcast.reason': 'two\nlines' },
    links: [{ context }],
  } as unknown as ReadableSpan;
  const line = spanLine(span);
  expect(line).not.toContain('\n');
  expect(JSON.parse(line)).toEqual({
    span: 'gate',
    traceId: context.traceId,
    spanId: context.spanId,
    parentSpanId: 'c'.repeat(16),
    start: '1970-01-01T00:00:01.500Z',
    durationMs: 2.5,
    attributes: { 'hindcast.reason': 'two\nlines' },
    links: [`${context.traceId}/${context.spanId}`],
  });
});
