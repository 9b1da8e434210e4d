import { contracts } from '@hindcast/contracts';
import { jetstream } from '@nats-io/jetstream';
import { connect, headers, type NatsConnection } from '@nats-io/transport-node';
import type { RunningService } from './bootstrap';
import { Bus } from './bus';
import { startNatsServer, type NatsServer } from './testing/nats-server';
import { sampleMessage } from './testing/samples';
import { newestHeaders } from './testing/stream';
import { startTrainer, type SampleHandler } from './testing/trainer';
import { until } from './testing/until';
import { activeSpan } from './tracing';

const { subject } = contracts.sampleReady;
const trace = { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' };

let server: NatsServer;
let connection: NatsConnection;
let service: RunningService;
let handle: SampleHandler;

beforeAll(async () => {
  server = await startNatsServer();
  connection = await connect({ servers: server.url });
  service = await startTrainer(server.url, (message, context) => handle(message, context));
});
afterAll(async () => {
  await service.close();
  await connection.close();
  await server.stop();
});

it('sends no header of a trace that somebody else began', async () => {
  handle = async () => undefined;
  const message = sampleMessage();
  await service.app.get(Bus).publish('sampleReady', { ...message, trace });
  expect(await newestHeaders(connection, subject)).toEqual({ 'Nats-Msg-Id': `sample.${message.turnId}` });
});

it('handles a message that brings a trace as any other', async () => {
  let context: object | null | undefined;
  handle = async () => void (context = activeSpan().context);
  const set = headers();
  set.set('traceparent', trace.traceparent);
  await jetstream(connection).publish(subject, JSON.stringify({ v: 1, at: 1, ...sampleMessage() }), { headers: set });
  await until(() => context !== undefined);
  expect(context).toBeNull();
});
