import { once } from 'node:events';
import { Agent, request, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { answerOf, FakeEngine } from './fake-engine';

/** What comes back on a raw connection, until its end or until `enough`. */
async function exchange(url: string, body: object, enough: RegExp): Promise<string> {
  const { hostname, port, pathname } = new URL(`${url}/chat/completions`);
  const socket = connect(Number(port), hostname);
  const json = JSON.stringify(body);
  socket.write(
    `POST ${pathname} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(json)}\r\n\r\n${json}`,
  );
  let text = '';
  socket.setEncoding('utf8').on('data', (piece: string) => (text += piece));
  while (!enough.test(text)) await once(socket, 'data');
  socket.destroy();
  return text;
}

describe.each(['vllm', 'sglang'] as const)('the fake %s on the wire', (dialect) => {
  let engine: FakeEngine;
  beforeEach(async () => {
    engine = await FakeEngine.start(dialect);
    engine.script = (call) => engine.answer(call, answerOf('one two'));
  });
  afterEach(() => engine.stop());
  const headersOf = (text: string): string[] => text.slice(0, text.indexOf('\r\n\r\n')).split('\r\n');
  const messages = [{ role: 'user', content: 'x' }];

  it('a whole answer has uvicorn’s headers and its length', async () => {
    const text = await exchange(engine.url, { messages }, /"usage".*\}$/);
    const [status, ...headers] = headersOf(text);
    expect(status).toBe('HTTP/1.1 200 OK');
    expect(headers.map((header) => header.split(': ')[0]!.toLowerCase()).sort()).toEqual([
      'content-length',
      'content-type',
      'date',
      'server',
    ]);
    expect(headers).toEqual(expect.arrayContaining(['server: uvicorn', 'content-type: application/json']));
  });

  it('a stream is chunked, one event a chunk', async () => {
    const text = await exchange(engine.url, { messages, stream: true }, /0\r\n\r\n$/);
    const [, ...headers] = headersOf(text);
    expect(headers.map((header) => header.toLowerCase())).toEqual(
      expect.arrayContaining(['content-type: text/event-stream; charset=utf-8', 'transfer-encoding: chunked']),
    );
    const chunks = text
      .slice(text.indexOf('\r\n\r\n') + 4)
      .split(/[0-9a-f]+\r\n(?=data: )/)
      .slice(1);
    for (const chunk of chunks.slice(0, -1)) expect(chunk).toMatch(/^data: .*\n\n\r\n$/);
    expect(chunks.at(-1)).toMatch(/^data: \[DONE\]\n\n/);
  });

  it('keeps the connection for the next request', async () => {
    const { hostname, port } = new URL(engine.url);
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    for (let round = 0; round < 3; round++) {
      const sent = request({ agent, hostname, port, path: '/v1/chat/completions', method: 'POST' });
      sent.end(JSON.stringify({ messages }));
      const [response] = (await once(sent, 'response')) as [IncomingMessage];
      await once(response.resume(), 'end');
    }
    agent.destroy();
    expect(new Set(engine.calls.map(({ response }) => response.req.socket)).size).toBe(1);
  });
});
