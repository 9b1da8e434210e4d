import { connect, type NatsConnection } from '@nats-io/transport-node';
import { Socket } from 'node:net';
import { gatherWrites } from './gathered-writes';
import { startNatsServer, type NatsServer } from './testing/nats-server';

let server: NatsServer;
let connection: NatsConnection;

beforeAll(async () => {
  server = await startNatsServer();
  connection = await connect({ servers: server.url });
  gatherWrites(connection);
});
afterAll(async () => {
  await connection?.close();
  await server?.stop();
});

/** Messages published one microtask after the other, and how they reached the socket. */
async function publishApart(count: number): Promise<{ calls: number; received: string[] }> {
  const received: string[] = [];
  connection.subscribe('greeting', { callback: (_, message) => void received.push(message.string()) });
  await connection.flush();
  const written = [jest.spyOn(Socket.prototype, '_writev' as never), jest.spyOn(Socket.prototype, '_write')];
  for (let i = 0; i < count; i++) {
    connection.publish('greeting', String(i));
    await Promise.resolve();
    await Promise.resolve();
  }
  await new Promise((resolve) => setImmediate(resolve));
  const calls = written.reduce((sum, spy) => sum + spy.mock.calls.length, 0);
  jest.restoreAllMocks();
  await connection.flush();
  return { calls, received };
}

it('sends what one turn of the event loop publishes in one call, complete and in order', async () => {
  const { calls, received } = await publishApart(20);
  expect(received).toEqual(Array.from({ length: 20 }, (_, i) => String(i)));
  expect(calls).toBe(1);
});

it('hands long payloads over as they are, in their order among short ones', async () => {
  const received: string[] = [];
  connection.subscribe('parcel', { callback: (_, { data }) => void received.push(`${data.length}:${data[0]}`) });
  await connection.flush();
  const concat = jest.spyOn(Buffer, 'concat');
  const written = jest.spyOn(Socket.prototype, 'write');
  const payloads = [10, 70_000, 20, 100_000, 100_000, 30].map((length, index) => Buffer.alloc(length, index + 1));
  for (const payload of payloads) connection.publish('parcel', payload);
  await new Promise((resolve) => setImmediate(resolve));
  const isWritten = payloads.map((payload) => written.mock.calls.some(([frame]) => (frame as unknown) === payload));
  const joined = concat.mock.calls.map(([pieces]) => pieces.reduce((sum, { length }) => sum + length, 0));
  jest.restoreAllMocks();
  await connection.flush();
  expect(received).toEqual(['10:1', '70000:2', '20:3', '100000:4', '100000:5', '30:6']);
  expect(isWritten).toEqual([false, true, false, true, true, false]);
  expect(Math.max(...joined)).toBeLessThan(1_000);
});

it('still does after the server was away and another socket was opened', async () => {
  const status = connection.status();
  await server.restart();
  for await (const { type } of status) if (type === 'reconnect') break;
  expect((await publishApart(5)).calls).toBe(1);
});

it('leaves a client alone whose inside it does not know', () => {
  expect(() => gatherWrites({} as NatsConnection)).not.toThrow();
});
