import type { JsMsg } from '@nats-io/jetstream';
import { TRACEPARENT, TRACESTATE, traceContextOf } from './core/trace-context';
import { startTrace, type Span } from './tracing';

/** Continues the trace of who published a message; each delivery has a span of its own. */
export function deliverySpan(
  { subject, headers, data }: JsMsg,
  durable: string,
  deliveries: number,
  turnId: string | null,
): Span {
  const attributes = {
    'messaging.system': 'nats',
    'messaging.operation.name': 'process',
    'messaging.operation.type': 'process',
    'messaging.destination.name': subject,
    'messaging.consumer.group.name': durable,
    'messaging.message.id': headers?.get('Nats-Msg-Id') || null,
    'messaging.message.body.size': data.length,
    'hindcast.message.delivery': deliveries,
    'hindcast.turn.id': turnId,
  };
  const parent = traceContextOf(headers?.get(TRACEPARENT), headers?.get(TRACESTATE));
  return startTrace(`process ${subject}`, { kind: 'consumer', attributes }, parent);
}
