import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Agent } from 'undici';
import { until } from '../../../libs/platform/src/testing/until';
import { exchange, type Exchanged } from './engine-exchange';

const SHORT_MS = 50;
const LONG_MS = 600_000;
const seen: string[] = [];
let server: Server;
let agent: Agent;
let answer: (response: ServerResponse) => void;

beforeEach(async () => {
  seen.length = 0;
  agent = new Agent({ connections: 1, headersTimeout: 0, bodyTimeout: 0 });
  server = createServer((request, response) => {
    seen.push(request.url!);
    answer(response);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterEach(async () => {
  await agent.destroy();
  server.closeAllConnections();
  server.close();
});

const get = (path: string, timeoutMs: number): Promise<Exchanged> => {
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return exchange(agent, { origin, path, method: 'GET' }, timeoutMs);
};

it('gathers an answer of many pieces', async () => {
  answer = (response) => {
    response.writeHead(202).write('a'.repeat(200_000));
    response.end('z');
  };
  const { statusCode, body } = await get('/', LONG_MS);
  expect([statusCode, body.toString()]).toEqual([202, `${'a'.repeat(200_000)}z`]);
});

it.each([
  ['an engine that says nothing', () => undefined],
  ['an answer without end', (response: ServerResponse) => void response.writeHead(200).write('{"')],
])('closes the connection to %s when the time is over', async (_, script) => {
  let closed = 0;
  answer = (response) => {
    response.on('close', () => closed++);
    script(response);
  };
  // On a busy machine the time may be over before the engine has heard anything.
  while (seen.length === 0) await expect(get('/', SHORT_MS)).rejects.toThrow('time of this call');
  await until(() => closed === seen.length);
});

it('never sends what waited for a connection until its time was over', async () => {
  let release = (): void => undefined;
  answer = (response) => (release = () => response.end('first'));
  const first = get('/first', LONG_MS);
  await until(() => seen.length === 1);
  await expect(get('/late', SHORT_MS)).rejects.toThrow('time of this call');
  release();
  expect((await first).body.toString()).toBe('first');
  answer = (response) => response.end('next');
  expect((await get('/next', LONG_MS)).body.toString()).toBe('next');
  expect(seen).toEqual(['/first', '/next']);
});

it('says that a connection broke in the middle of an answer', async () => {
  answer = (response) => {
    response.writeHead(200, { 'content-length': 10 }).write('abc');
    setImmediate(() => response.destroy());
  };
  await expect(get('/', LONG_MS)).rejects.toThrow();
});

it('throws what the dispatcher refuses', async () => {
  await agent.destroy();
  await expect(get('/', LONG_MS)).rejects.toThrow('destroyed');
});
