import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface SeenCall {
  readonly headers: IncomingMessage['headers'];
  readonly body: {
    model: string;
    messages: { role: string; content: string }[];
    temperature: number;
    max_tokens: number;
    response_format?: { type: string; json_schema: { name: string; strict: boolean; schema: Record<string, unknown> } };
  };
}

export interface FakeJudge {
  readonly baseUrl: string;
  readonly calls: readonly SeenCall[];
  readonly mostAtOnce: () => number;
  /** Requests that are under way now. */
  readonly open: () => number;
  stop(): Promise<void>;
}

/** A scripted OpenAI-compatible judge on loopback. `script` answers the n-th call. */
export async function startFakeJudge(
  script: (call: SeenCall, n: number, response: ServerResponse) => void,
): Promise<FakeJudge> {
  const calls: SeenCall[] = [];
  let open = 0;
  let most = 0;
  const server = createServer((request, response) => {
    most = Math.max(most, ++open);
    response.on('close', () => open--);
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const call = { headers: request.headers, body: JSON.parse(Buffer.concat(chunks).toString()) as SeenCall['body'] };
      calls.push(call);
      script(call, calls.length, response);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    calls,
    mostAtOnce: () => most,
    open: () => open,
    stop: async () => {
      server.closeAllConnections();
      server.close();
      if (server.listening) await once(server, 'close');
    },
  };
}

/** A chat completion as OpenAI's servers send it. `content` may be what no vote can be read from. */
export function reply(
  response: ServerResponse,
  content: unknown,
  more: { message?: object; finishReason?: string; usage?: unknown } = {},
): void {
  response.setHeader('content-type', 'application/json');
  response.end(
    JSON.stringify({
      id: 'chatcmpl-1',
      object: 'chat.completion',
      created: 1,
      model: 'judge',
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content, refusal: null, ...more.message },
          logprobs: null,
          finish_reason: more.finishReason ?? 'stop',
        },
      ],
      usage: more.usage ?? { prompt_tokens: 9, completion_tokens: 5, total_tokens: 14 },
    }),
  );
}

export function refuse(
  response: ServerResponse,
  status: number,
  headers: Record<string, string> = {},
  message = 'busy',
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify({ error: { message, type: 'server_error', param: null, code: null } }));
}
