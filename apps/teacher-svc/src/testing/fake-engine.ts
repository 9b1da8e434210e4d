import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface EngineCall {
  readonly path: string;
  readonly authorization: string | undefined;
  readonly body: Record<string, unknown>;
}
export interface EngineAnswer {
  readonly status?: number;
  readonly json?: unknown;
  /** The body as it is written, in place of `json`. */
  readonly text?: string;
}
export type EngineScript = (call: EngineCall) => EngineAnswer | Promise<EngineAnswer>;

export interface FakeEngine {
  readonly baseUrl: string;
  readonly calls: readonly EngineCall[];
  /** Says what is answered from now on. */
  script: EngineScript;
  stop(): Promise<void>;
}

/** A scripted engine on loopback: what it answers is decided per call. */
export async function startFakeEngine(script: EngineScript, port = 0): Promise<FakeEngine> {
  const calls: EngineCall[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString();
      const call = {
        path: request.url!,
        authorization: request.headers.authorization,
        body: (text === '' ? {} : JSON.parse(text)) as Record<string, unknown>,
      };
      calls.push(call);
      void Promise.resolve(engine.script(call)).then(({ status = 200, json, text: written }) => {
        response.writeHead(status, { 'content-type': 'application/json' });
        response.end(written ?? JSON.stringify(json));
      });
    });
  }).listen(port, '127.0.0.1');
  await once(server, 'listening');
  const engine: FakeEngine = {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    calls,
    script,
    stop: async () => {
      if (!server.listening) return;
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return engine;
}
