/**
 * Where a span stands: the headers `traceparent` and `tracestate` of W3C Trace Context, https://www.w3.org/TR/trace-context/. It travels
 * beside messages, never in them.
 */
export interface TraceContext {
  readonly traceparent: string;
  /** What other tracing systems added; handed on as it came. */
  readonly tracestate?: string;
}
