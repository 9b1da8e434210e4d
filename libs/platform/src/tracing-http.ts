import type { IncomingMessage } from 'node:http';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { TRACEPARENT, TRACESTATE, traceContextOf } from './core/trace-context';
import { isOperation } from './open-requests';
import { NO_SPAN, isTracing, setHttpStatus, startTrace, type Span } from './tracing';

const spans = new WeakMap<IncomingMessage, Span>();

/** The server's span of a request. */
export const requestSpan = ({ raw }: { readonly raw: IncomingMessage }): Span =>
  isTracing() ? (spans.get(raw) ?? NO_SPAN) : NO_SPAN;

/**
 * From now on requests have spans, in the trace that their `traceparent` names. What only reads is traced where its caller traces it:
 * pages and polls would drown the rest.
 */
export function traceRequests(app: NestFastifyApplication): void {
  if (!isTracing()) return;
  app
    .getHttpAdapter()
    .getInstance()
    .addHook('onRequest', (request, reply, done) => {
      const { raw, method, headers } = request;
      const parent = traceContextOf(headers[TRACEPARENT], headers[TRACESTATE]);
      if (isOperation(request.url) || (method !== 'POST' && parent === null)) return done();
      const route = request.routeOptions.url;
      const attributes = { 'http.request.method': method, 'http.route': route };
      const span = startTrace(route ? `${method} ${route}` : method, { kind: 'server', attributes }, parent);
      spans.set(raw, span);
      // Of a streamed answer as of any other, and of one whose client went away.
      reply.raw.once('close', () => {
        setHttpStatus(span, reply.raw.writableFinished || reply.raw.headersSent ? reply.raw.statusCode : 499, 500);
        span.end();
      });
      done();
    });
}
