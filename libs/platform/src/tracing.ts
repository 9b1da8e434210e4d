import { AsyncLocalStorage } from 'node:async_hooks';
import type { TraceContext } from '@hindcast/contracts';
import { tracesExporterOf, type TracesSettings } from './core/traces-exporter';
import type { Log } from './log';
import type * as TracingSdk from './tracing-sdk';

/** Never a text of a user, a prompt, an answer or a key. What is `null` or `undefined` is left out. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean | null | undefined>>;

export type SpanKind = 'internal' | 'server' | 'client' | 'producer' | 'consumer';

/** A piece of work in a trace. */
export interface Span {
  /** What travels with a message, a request or a record; `null` where nothing is traced. */
  readonly context: TraceContext | null;
  set(attributes: SpanAttributes): void;
  /** The work failed. Of an error its code or its name is kept: a message may quote a text. */
  fail(error: unknown): void;
  /** Only the first end counts. */
  end(): void;
}

/** A span, or what is known of one that another process, or an earlier one, made. */
export type SpanParent = Span | TraceContext | null | undefined;

export interface SpanOptions {
  readonly kind?: SpanKind;
  readonly attributes?: SpanAttributes;
  /** Spans of other traces that it has to do with. */
  readonly links?: readonly (TraceContext | null | undefined)[];
}

/** Makes spans; `tracing-sdk.ts` has the only one. */
export interface Tracer {
  start(name: string, options: SpanOptions, parent: Span | TraceContext | null): Span;
  /** Sends what is left, for at most so many milliseconds. */
  close(limitMs: number): Promise<void>;
}

/** What is not traced. */
export const NO_SPAN: Span = {
  context: null,
  set: () => undefined,
  fail: () => undefined,
  end: () => undefined,
};

let tracer: Tracer | null = null;
const active = new AsyncLocalStorage<Span>();

/** Whether this process makes spans at all. */
export const isTracing = (): boolean => tracer !== null;

/** The span that surrounds the caller. */
export const activeSpan = (): Span => (tracer === null ? NO_SPAN : (active.getStore() ?? NO_SPAN));

/** Starts a trace, or takes one up that began elsewhere. */
export function startTrace(name: string, options: SpanOptions = {}, parent: SpanParent = null): Span {
  return tracer === null ? NO_SPAN : tracer.start(name, options, parent ?? null);
}

/** Starts a piece of a trace; of none, none. */
export function startSpan(name: string, options: SpanOptions = {}, parent: SpanParent = activeSpan()): Span {
  if (tracer === null || parent == null || parent === NO_SPAN) return NO_SPAN;
  return tracer.start(name, options, parent);
}

/** Does the work of a span, which surrounds all that is called from there, and ends it. */
export async function within<T>(span: Span, work: (span: Span) => Promise<T>): Promise<T> {
  if (span === NO_SPAN) return work(span);
  try {
    return await active.run(span, () => work(span));
  } catch (error) {
    span.fail(error);
    throw error;
  } finally {
    span.end();
  }
}

/** As {@link within}, where the span is handed on by hand: an async context costs every promise of the process. */
export async function endWith<T>(span: Span, work: Promise<T>): Promise<T> {
  if (span === NO_SPAN) return work;
  try {
    return await work;
  } catch (error) {
    span.fail(error);
    throw error;
  } finally {
    span.end();
  }
}

/** {@link startSpan} and {@link within} in one. */
export function inSpan<T>(
  name: string,
  options: SpanOptions,
  work: (span: Span) => Promise<T>,
  parent?: SpanParent,
): Promise<T> {
  return within(startSpan(name, options, parent === undefined ? activeSpan() : parent), work);
}

/** A call over HTTP that is part of a trace. Its `context`, spread into the headers, tells the server. */
export function startHttpCall(method: string, url: string, parent: SpanParent = activeSpan()): Span {
  if (tracer === null || parent == null || parent === NO_SPAN) return NO_SPAN;
  const { hostname, port, protocol } = new URL(url);
  const attributes = {
    'http.request.method': method,
    'server.address': hostname,
    'server.port': Number(port || (protocol === 'https:' ? 443 : 80)),
  };
  return tracer.start(method, { kind: 'client', attributes }, parent);
}

/** Notes how an HTTP exchange ended; a client's span fails from 400 on, a server's from 500 on. */
export function setHttpStatus(span: Span, status: number, failsFrom: 400 | 500): void {
  span.set({ 'http.response.status_code': status });
  if (status >= failsFrom) span.fail(String(status));
}

/**
 * Begins to trace where the settings ask for it; only then is the SDK loaded.
 *
 * @returns ends it and sends what is left, within so many milliseconds
 */
export function startTracing(app: string, settings: TracesSettings, log: Log): (limitMs: number) => Promise<void> {
  const exporter = tracesExporterOf(settings);
  // A process has one tracer, whatever else is started in it.
  if (exporter === null || tracer !== null) return () => Promise.resolve();
  // eslint-disable-next-line @typescript-eslint/no-require-imports -- who does not trace does not load the SDK
  const { openTracer } = require('./tracing-sdk') as typeof TracingSdk;
  const own = openTracer(app, exporter, log);
  tracer = own;
  return async (limitMs) => {
    if (tracer === own) tracer = null;
    await own.close(limitMs);
  };
}
