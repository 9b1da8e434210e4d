import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface EngineCall {
  readonly path: string;
  readonly authorization: string | undefined;
  readonly body: Record<string, unknown>;
}
type Answer = { readonly status?: number; readonly json: unknown };

/** A scripted engine on loopback: what it answers is decided per call. */
export async function startFakeEngine(
  script: (call: EngineCall) => Answer,
): Promise<{ readonly baseUrl: string; readonly calls: readonly EngineCall[]; stop(): Promise<void> }> {
  const calls: EngineCall[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const call = {
        path: request.url!,
        authorization: request.headers.authorization,
        body: JSON.parse(Buffer.concat(chunks).toString()) as Record<string, unknown>,
      };
      calls.push(call);
      const { status = 200, json } = script(call);
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(json));
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    calls,
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
