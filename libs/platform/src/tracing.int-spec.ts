import { randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { contracts } from '@hindcast/contracts';
import { jetstream } from '@nats-io/jetstream';
import { connect, headers, type NatsConnection } from '@nats-io/transport-node';
import type { RunningService } from './bootstrap';
import { Bus } from './bus';
import { spansOf as spansIn, type CollectedSpan } from './testing/collected-spans';
import { startNatsServer, type NatsServer } from './testing/nats-server';
import { sampleMessage } from './testing/samples';
import { newestHeaders } from './testing/stream';
import { startTrainer, type SampleHandler } from './testing/trainer';
import { until } from './testing/until';
import { activeSpan, inSpan, startTrace, within } from './tracing';

jest.mock('@opentelemetry/exporter-trace-otlp-http', () => jest.requireActual('./testing/file-exporter'));

const { subject } = contracts.sampleReady;
const PROCESS = `process ${subject}`;
const PUBLISH = `publish ${subject}`;
const caller = { traceId: '0af7651916cd43dd8448eb211c80319c', spanId: 'b7ad6b7169203331' };
const traceparent = (flags: string): string => `00-${caller.traceId}-${caller.spanId}-${flags}`;

let server: NatsServer;
let connection: NatsConnection;
let folder: string;
let service: RunningService;
let bus: Bus;
let handle: SampleHandler;

beforeAll(async () => {
  server = await startNatsServer();
  connection = await connect({ servers: server.url });
  folder = mkdtempSync(join(tmpdir(), 'hindcast-traces-'));
  process.env['TRACES_FILE'] = join(folder, 'traces.jsonl');
  process.env['OTEL_BSP_SCHEDULE_DELAY'] = '20';
  writeFileSync(process.env['TRACES_FILE'], '');
  const env = { OTEL_TRACES_EXPORTER: 'otlp', OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json' };
  service = await startTrainer(server.url, (message, context) => handle(message, context), {}, { env });
  bus = service.app.get(Bus);
});
afterAll(async () => {
  await service.close();
  delete process.env['OTEL_BSP_SCHEDULE_DELAY'];
  delete process.env['TRACES_FILE'];
  rmSync(folder, { recursive: true });
  await connection.close();
  await server.stop();
});

const collected = (): CollectedSpan[] => spansIn(readFileSync(join(folder, 'traces.jsonl'), 'utf8'));
const idOf = (context: { readonly traceparent: string } | null): string => context!.traceparent.slice(36, 52);

/** The spans of that name about a turn, once there are so many, by delivery. */
async function spansOf(name: string, turnId: string, count = 1): Promise<CollectedSpan[]> {
  const found = (): CollectedSpan[] =>
    collected()
      .filter(
        (span) =>
          span.name === name &&
          [span.attributes['hindcast.turn.id'], span.attributes['messaging.message.id']].some((id) =>
            String(id).includes(turnId),
          ),
      )
      .sort(
        (a, b) => Number(a.attributes['hindcast.message.delivery']) - Number(b.attributes['hindcast.message.delivery']),
      );
  await until(() => found().length >= count);
  return found();
}

it('carries a trace over a message into its handler, and on from there', async () => {
  const message = sampleMessage();
  let inside = '';
  handle = () =>
    inSpan('inside', { attributes: { 'hindcast.turn.id': message.turnId } }, () => {
      inside = activeSpan().context!.traceparent;
      return Promise.resolve();
    });
  const origin = startTrace('origin', { attributes: { 'hindcast.turn.id': message.turnId } });
  await within(origin, () => bus.publish('sampleReady', message));
  const [root] = await spansOf('origin', message.turnId);
  const [publish] = await spansOf(PUBLISH, message.turnId);
  const [process] = await spansOf(PROCESS, message.turnId);
  const [child] = await spansOf('inside', message.turnId);
  expect(root).toMatchObject({ parentSpanId: null, service: 'hindcast-trainer' });
  expect(publish).toMatchObject({ traceId: root!.traceId, parentSpanId: root!.spanId, kind: 'producer' });
  expect(process).toMatchObject({
    traceId: root!.traceId,
    parentSpanId: publish!.spanId,
    kind: 'consumer',
    hasFailed: false,
    attributes: {
      'messaging.system': 'nats',
      'messaging.operation.type': 'process',
      'messaging.destination.name': subject,
      'messaging.consumer.group.name': 'trainer--rl-v1-sample-ready',
      'messaging.message.id': `sample.${message.turnId}`,
      'hindcast.message.outcome': 'acked',
    },
  });
  expect(child).toMatchObject({ traceId: root!.traceId, parentSpanId: process!.spanId });
  expect(inside.slice(36, 52)).toBe(child!.spanId);
});

it('a message that comes again has a span for each delivery', async () => {
  const message = sampleMessage();
  handle = async (_, { deliveries }) => {
    if (deliveries < 3) throw new TypeError('a text that nobody is to read');
  };
  await within(startTrace('origin'), () => bus.publish('sampleReady', message));
  const [publish] = await spansOf(PUBLISH, message.turnId);
  const processed = await spansOf(PROCESS, message.turnId, 3);
  expect(processed.map(({ parentSpanId }) => parentSpanId)).toEqual(Array(3).fill(publish!.spanId));
  expect(processed.map(({ attributes }) => attributes['hindcast.message.outcome'])).toEqual([
    'retried',
    'retried',
    'acked',
  ]);
  expect(processed.map(({ hasFailed }) => hasFailed)).toEqual([true, true, false]);
  expect(processed[0]!.attributes['error.type']).toBe('TypeError');
  expect(JSON.stringify(processed)).not.toContain('nobody is to read');
});

it.each([
  ['is malformed', 'not a traceparent'],
  ['is missing', ''],
])('a message whose traceparent %s is handled in a trace of its own', async (_, header) => {
  handle = async () => undefined;
  const message = sampleMessage();
  const set = headers();
  if (header) set.set('traceparent', header);
  await jetstream(connection).publish(subject, JSON.stringify({ v: 1, at: 1, ...message }), { headers: set });
  const [process] = await spansOf(PROCESS, message.turnId);
  expect(process).toMatchObject({ parentSpanId: null });
});

it('hands on what other systems said of a trace, and drops a list that is too long', async () => {
  const seen: (string | undefined)[] = [];
  handle = async () => void seen.push(activeSpan().context?.tracestate);
  for (const tracestate of ['rojo=1,congo=2', 'a='.padEnd(600, 'x')]) {
    const set = headers();
    set.set('traceparent', traceparent('01'));
    set.set('tracestate', tracestate);
    const message = { v: 1, at: 1, ...sampleMessage() };
    const before = seen.length;
    await jetstream(connection).publish(subject, JSON.stringify(message), { headers: set });
    await until(() => seen.length > before);
  }
  expect(seen).toEqual(['rojo=1,congo=2', undefined]);
});

it('continues the trace of a request that brings one', async () => {
  const route = `http://127.0.0.1:${service.port}/healthz/none`;
  await fetch(route, { headers: { traceparent: traceparent('01') } });
  await until(() => collected().some(({ kind }) => kind === 'server'));
  const [span] = collected().filter(({ kind }) => kind === 'server');
  expect(span).toMatchObject({
    traceId: caller.traceId,
    parentSpanId: caller.spanId,
    attributes: { 'http.request.method': 'GET', 'http.response.status_code': 404 },
  });
});

it('records nothing of a trace that its caller does not record, and says so to whom it calls', async () => {
  let inside: string | undefined;
  handle = async () => void (inside = activeSpan().context?.traceparent);
  const message = sampleMessage();
  await bus.publish('sampleReady', { ...message, trace: { traceparent: traceparent('00') } });
  await until(() => inside !== undefined);
  expect(inside).toMatch(new RegExp(`^00-${caller.traceId}-[0-9a-f]{16}-00$`));
  const stored = await newestHeaders(connection, subject);
  expect(stored['traceparent']).toMatch(/-00$/);
  expect(collected().filter(({ attributes }) => attributes['hindcast.turn.id'] === message.turnId)).toEqual([]);
});

it('links a span to those of other traces', async () => {
  const turnId = randomUUID();
  const others = [startTrace('other'), startTrace('other')];
  startTrace('linked', {
    attributes: { 'hindcast.turn.id': turnId },
    links: [...others.map(({ context }) => context), null, undefined],
  }).end();
  const [linked] = await spansOf('linked', turnId);
  expect(linked!.links.map(({ spanId }) => spanId)).toEqual(others.map(({ context }) => idOf(context)));
});
