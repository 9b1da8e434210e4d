import { setTimeout as sleep } from 'node:timers/promises';
import { HindcastError, type TraceContext } from '@hindcast/contracts';
import {
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  createTraceState,
  trace,
  type Attributes,
  type Context,
  type Span as SdkSpan,
  type SpanContext,
} from '@opentelemetry/api';
import { ExportResultCode, type ExportResult } from '@opentelemetry/core';
import { OTLPTraceExporter as JsonExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { OTLPTraceExporter as ProtobufExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { defaultResource, detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import {
  BasicTracerProvider,
  BatchSpanProcessor,
  SimpleSpanProcessor,
  type ReadableSpan,
  type SpanExporter,
} from '@opentelemetry/sdk-trace-base';
import { release } from './build-info';
import { readTraceparent, writeTraceparent } from './core/trace-context';
import type { TracesExporter } from './core/traces-exporter';
import type { Log } from './log';
import { spanLine } from './span-line';
import type { Span, SpanAttributes, SpanOptions, Tracer } from './tracing';

/** A step may have as many samples; the SDK's own limit is 128. */
const MAX_LINKS = 8_192;

const KINDS = {
  internal: SpanKind.INTERNAL,
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  producer: SpanKind.PRODUCER,
  consumer: SpanKind.CONSUMER,
} as const;

/**
 * The SDK, set up by the variables that it reads itself: endpoint, headers, sampler, batches, resource. This file alone imports it.
 *
 * @param app part of the service's name where `OTEL_SERVICE_NAME` gives none
 */
export function openTracer(app: string, exporter: TracesExporter, log: Log): Tracer {
  const named = { 'service.name': `hindcast-${app}`, 'service.version': release() };
  const resource = defaultResource()
    .merge(resourceFromAttributes(named))
    .merge(detectResources({ detectors: [envDetector] }));
  const provider = new BasicTracerProvider({
    resource,
    spanLimits: { linkCountLimit: MAX_LINKS },
    spanProcessors: [processorOf(exporter, log)],
  });
  const tracer = provider.getTracer('hindcast');
  return {
    start: (name, { kind = 'internal', attributes = {}, links = [] }: SpanOptions, parent) => {
      const linked = links.flatMap((link) => contextOf(link) ?? []).map((context) => ({ context }));
      const options = { kind: KINDS[kind], attributes: present(attributes), links: linked };
      return new RecordedSpan(tracer.startSpan(name, options, surrounding(parent)));
    },
    close: async (limitMs) => {
      const over = sleep(limitMs, undefined, { ref: false });
      await Promise.race([provider.shutdown().catch(() => undefined), over]);
    },
  };
}

function processorOf(exporter: TracesExporter, log: Log): BatchSpanProcessor | SimpleSpanProcessor {
  if (exporter === 'console') return new SimpleSpanProcessor(new PrintedSpans());
  return new BatchSpanProcessor(
    new SayingOnce(exporter === 'http/json' ? new JsonExporter() : new ProtobufExporter(), log),
  );
}

/** Prints each span on standard output, among the lines of the log. */
class PrintedSpans implements SpanExporter {
  export(spans: ReadableSpan[], done: (result: ExportResult) => void): void {
    for (const span of spans) process.stdout.write(`${spanLine(span)}\n`);
    done({ code: ExportResultCode.SUCCESS });
  }

  shutdown(): Promise<void> {
    return Promise.resolve();
  }
}

/** Says once that traces do not arrive, and once that they do again. */
class SayingOnce implements SpanExporter {
  private isFailing = false;

  constructor(
    private readonly exporter: SpanExporter,
    private readonly log: Log,
  ) {}

  export(spans: ReadableSpan[], done: (result: ExportResult) => void): void {
    this.exporter.export(spans, (result) => {
      const failed = result.code === ExportResultCode.FAILED;
      if (failed && !this.isFailing) this.log.warn('traces.not-sent', { reason: result.error?.message ?? 'refused' });
      if (!failed && this.isFailing) this.log.info('traces.sent-again');
      this.isFailing = failed;
      done(result);
    });
  }

  shutdown(): Promise<void> {
    return this.exporter.shutdown();
  }

  async forceFlush(): Promise<void> {
    await this.exporter.forceFlush?.();
  }
}

class RecordedSpan implements Span {
  private hasEnded = false;
  private written: TraceContext | null = null;

  constructor(private readonly span: SdkSpan) {}

  get spanContext(): SpanContext {
    return this.span.spanContext();
  }

  get context(): TraceContext {
    return (this.written ??= written(this.spanContext));
  }

  set(attributes: SpanAttributes): void {
    this.span.setAttributes(present(attributes));
  }

  fail(error: unknown): void {
    this.span.setAttribute('error.type', typeOf(error));
    this.span.setStatus({ code: SpanStatusCode.ERROR });
  }

  end(): void {
    if (this.hasEnded) return;
    this.hasEnded = true;
    this.span.end();
  }
}

function typeOf(error: unknown): string {
  if (error instanceof HindcastError) return error.code;
  if (typeof error === 'string') return error;
  return error instanceof Error ? error.name : 'unknown';
}

const present = (attributes: SpanAttributes): Attributes =>
  Object.fromEntries(
    Object.entries(attributes).filter((entry): entry is [string, string | number | boolean] => entry[1] != null),
  );

function surrounding(parent: Span | TraceContext | null): Context {
  const context = parent instanceof RecordedSpan ? parent.spanContext : contextOf(parent as TraceContext | null);
  return context ? trace.setSpanContext(ROOT_CONTEXT, context) : ROOT_CONTEXT;
}

function contextOf(given: TraceContext | null | undefined): SpanContext | null {
  const parts = given ? readTraceparent(given.traceparent) : null;
  if (!parts) return null;
  const { traceId, spanId, isSampled } = parts;
  return {
    traceId,
    spanId,
    traceFlags: isSampled ? TraceFlags.SAMPLED : TraceFlags.NONE,
    isRemote: true,
    ...(given?.tracestate !== undefined && { traceState: createTraceState(given.tracestate) }),
  };
}

function written({ traceId, spanId, traceFlags, traceState }: SpanContext): TraceContext {
  const tracestate = traceState?.serialize();
  const isSampled = (traceFlags & TraceFlags.SAMPLED) !== 0;
  return { traceparent: writeTraceparent({ traceId, spanId, isSampled }), ...(tracestate && { tracestate }) };
}
