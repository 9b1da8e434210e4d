import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { Agent, request } from 'undici';
import { sendingConnector, whenSent } from './sent-bodies';

const LONG = 64 * 1024 * 1024;

describe('whenSent', () => {
  let server: Server;
  let agent: Agent;
  let connections: Socket[];

  /** Answers as soon as a request begins, and reads no more of it. */
  const listen = async (read: boolean): Promise<string> => {
    connections = [];
    server = createServer((socket) => {
      connections.push(socket);
      socket.on('error', () => undefined);
      socket.once('data', () => {
        if (!read) socket.pause();
        socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}');
      });
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  };

  beforeEach(() => (agent = new Agent({ connect: sendingConnector(1_000) })));
  afterEach(async () => {
    await agent.destroy();
    for (const socket of connections) socket.destroy();
    server.close();
  });

  it('tells that the system has a body, and tells it of each', async () => {
    const url = await listen(true);
    const sent: number[] = [];
    for (const number of [1, 2]) {
      const body = Buffer.alloc(200_000, 0x20);
      whenSent(body, () => sent.push(number));
      const answer = await request(url, { method: 'POST', body, dispatcher: agent });
      await answer.body.dump();
    }
    await new Promise(setImmediate);
    expect(sent).toEqual([1, 2]);
  });

  it('does not tell of a body that an engine has answered without reading it, nor when its connection breaks', async () => {
    const url = await listen(false);
    const body = Buffer.alloc(LONG, 0x20);
    const listener = jest.fn();
    whenSent(body, listener);
    const answer = await request(url, { method: 'POST', body, dispatcher: agent });
    expect(await answer.body.text()).toBe('{}');
    expect(listener).not.toHaveBeenCalled();
    for (const socket of connections) socket.destroy();
    await agent.destroy();
    expect(listener).not.toHaveBeenCalled();
  });

  it('does not tell where nobody is reached', async () => {
    const url = await listen(true);
    server.close();
    await once(server, 'close');
    const body = Buffer.alloc(100_000);
    const listener = jest.fn();
    whenSent(body, listener);
    await expect(request(url, { method: 'POST', body, dispatcher: agent })).rejects.toThrow('ECONNREFUSED');
    expect(listener).not.toHaveBeenCalled();
  });
});
