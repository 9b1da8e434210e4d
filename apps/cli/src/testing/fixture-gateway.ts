import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface GatewayCall {
  readonly method: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: IncomingMessage['headers'];
  readonly body: unknown;
}
/** What is sent: JSON with a status, or whatever the function writes. */
export type Answer = { readonly status?: number; readonly json: unknown } | ((response: ServerResponse) => void);

export interface FixtureGateway {
  readonly url: string;
  readonly calls: GatewayCall[];
  /** Answers by `METHOD /path`. */
  readonly routes: Map<string, (call: GatewayCall) => Answer>;
  stop(): Promise<void>;
}

/** A gateway that gives the answers of its interface from a table; anything else is 404 in OpenAI's shape. */
export async function startFixtureGateway(): Promise<FixtureGateway> {
  const calls: GatewayCall[] = [];
  const routes = new Map<string, (call: GatewayCall) => Answer>();
  const server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => {
      const url = new URL(request.url!, 'http://gateway');
      const text = Buffer.concat(pieces).toString();
      const call: GatewayCall = {
        method: request.method!,
        path: url.pathname,
        query: Object.fromEntries(url.searchParams),
        headers: request.headers,
        body: text === '' ? null : JSON.parse(text),
      };
      calls.push(call);
      const answer =
        routes.get(`${call.method} ${call.path}`)?.(call) ?? refused(404, 'not-found', 'there is no such path');
      if (typeof answer === 'function') return answer(response);
      response.writeHead(answer.status ?? 200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(answer.json));
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls,
    routes,
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

export const refused = (status: number, code: string, message: string): { status: number; json: object } => ({
  status,
  json: { error: { message, type: 'invalid_request_error', param: null, code } },
});

/** A streamed answer of two pieces, as the gateway sends one. */
export const streamed =
  (turnId: string, pieces: readonly string[]): Answer =>
  (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream', 'x-hindcast-turn-id': turnId });
    const event = (choice: object): string =>
      `data: ${JSON.stringify({ id: 'chatcmpl-1', object: 'chat.completion.chunk', model: 'seed', choices: [{ index: 0, ...choice }] })}\n\n`;
    for (const content of pieces) response.write(event({ delta: { content }, finish_reason: null }));
    response.write(event({ delta: {}, finish_reason: 'stop' }));
    const usage = { prompt_tokens: 3, completion_tokens: pieces.length + 1, total_tokens: pieces.length + 4 };
    response.write(`data: ${JSON.stringify({ id: 'chatcmpl-1', model: 'seed', choices: [], usage })}\n\n`);
    response.end('data: [DONE]\n\n');
  };
