import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { setImmediate as nextTick } from 'node:timers/promises';
import type { EngineWire, FakeAnswer } from './engine-wire';
import { sglangWire } from './fake-sglang';
import { vllmWire } from './fake-vllm';

export type { FakeAnswer, FakeChoice, FakeDelta, FakeToken } from './engine-wire';

export interface EngineCall {
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly rawHeaders: string;
  /** The body as it came. */
  readonly text: string;
  readonly body: Record<string, unknown>;
  readonly response: ServerResponse;
  /** Resolves when the gateway closed the connection before the answer was over. */
  readonly aborted: Promise<void>;
}

type Script = (call: EngineCall) => unknown;

/**
 * A policy engine over real sockets that does what a script tells it. It writes what vLLM or SGLang would, byte for byte
 * (docs/engine-calls.md §1), with uvicorn's headers.
 */
export class FakeEngine {
  readonly calls: EngineCall[] = [];
  models: { id: string; parent?: string | null }[] = [{ id: 'seed' }];
  /** Status of `GET /health`; `null`: no answer. */
  health: number | null = 200;
  /** Label of its only weights; `undefined`: a server that knows no labels. */
  weightVersion: string | null | undefined = undefined;
  script: Script;
  private readonly sockets = new Set<Socket>();
  private responses = 0;

  private constructor(
    private readonly server: Server,
    private readonly wire: EngineWire,
  ) {
    this.script = (call) => this.answer(call, answerOf('Hello'));
    server.on('connection', (socket: Socket) => {
      this.sockets.add(socket);
      socket.on('close', () => this.sockets.delete(socket));
    });
    server.on('request', (request: IncomingMessage, response: ServerResponse) => void this.serve(request, response));
  }

  static async start(dialect: 'vllm' | 'sglang' | EngineWire = 'vllm'): Promise<FakeEngine> {
    // A process of tests may stand still for seconds; a connection that ends meanwhile would be the engine's failure.
    const server = createServer({ keepAliveTimeout: 60_000 }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const wire = dialect === 'vllm' ? vllmWire : dialect === 'sglang' ? sglangWire() : dialect;
    return new FakeEngine(server, wire);
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/v1`;
  }

  get openSockets(): number {
    return this.sockets.size;
  }

  async stop(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    this.server.close();
    await once(this.server, 'close');
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    const text = Buffer.concat(pieces).toString();
    if (request.url === '/health') return this.health === null ? undefined : void response.writeHead(this.health).end();
    if (request.url === '/v1/models')
      return void sendJson(response, 200, {
        object: 'list',
        data: this.models.map((model) => listed(model, this.wire)),
      });
    if (request.url === '/weight_info' || request.url === '/model_info' || request.url === '/get_model_info') {
      const label = this.weightVersion;
      if (label === undefined) return sendJson(response, 404, { detail: 'Not Found' });
      return sendJson(response, 200, { weight_version: label });
    }
    const aborted = new Promise<void>((resolve) =>
      response.once('close', () => !response.writableFinished && resolve()),
    );
    const call: EngineCall = {
      path: request.url ?? '',
      headers: request.headers,
      rawHeaders: request.rawHeaders.join('\n'),
      text,
      body: JSON.parse(text) as Record<string, unknown>,
      response,
      aborted,
    };
    response.setHeader('server', 'uvicorn');
    response.removeHeader('connection');
    this.calls.push(call);
    await this.script(call);
  }

  /** Answers as the server would: refused, streamed or whole, with what the request asked for. */
  answer(call: EngineCall, answer: FakeAnswer): void {
    const refusal = this.wire.refusal(call.body);
    if (refusal) return sendText(call.response, refusal.status, refusal.body);
    if (call.body['stream'] !== true) return sendText(call.response, 200, this.wire.write(this.whole(call, answer)));
    this.openStream(call);
    for (const event of this.events(call, answer)) call.response.write(event);
    call.response.end();
  }

  /** Like `answer`, with the bytes of a stream in the pieces that `cuts` make of them. */
  async answerInPieces(call: EngineCall, answer: FakeAnswer, cuts: readonly number[]): Promise<void> {
    if (call.body['stream'] !== true || this.wire.refusal(call.body)) return this.answer(call, answer);
    this.openStream(call);
    await writeInPieces(call, Buffer.from(this.events(call, answer).join('')), cuts);
  }

  /** Refuses with the server's own body for a status. */
  refuse(call: EngineCall, status: number, message: string, headers: Record<string, string> = {}): void {
    sendText(call.response, status, this.wire.error(status, message).body, headers);
  }

  /** Ends a stream as the server does when it fails in it. */
  breakOff(call: EngineCall, status: number, message: string): void {
    for (const event of this.wire.brokenStream(status, message)) call.response.write(event);
    call.response.end();
  }

  openStream(call: EngineCall): void {
    call.response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
    call.response.flushHeaders();
  }

  /** The events of a streamed answer, one string each. vLLM: role, one per token, finish with the last, usage, end mark. */
  events(call: EngineCall, answer: FakeAnswer): string[] {
    return this.wire.events(call.body, answer, answer.id ?? this.nextId());
  }

  whole(call: EngineCall, answer: FakeAnswer): object {
    return this.wire.whole(call.body, answer, answer.id ?? this.nextId());
  }

  private nextId(): string {
    return `chatcmpl-${++this.responses}`;
  }
}

/** A plain answer: one token for each word, ids from 100 on, log-probs from −0.5 down. */
export function answerOf(text: string, overrides: Partial<FakeAnswer> = {}): FakeAnswer {
  const words = text.match(/\s*\S+/g) ?? [];
  const tokens = words.map((word, index) => ({ text: word, id: 100 + index, logProb: -0.5 - 0.25 * index }));
  return { tokens, ...overrides };
}

export function sendJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}

function sendText(response: ServerResponse, status: number, body: string, headers: Record<string, string> = {}): void {
  const length = String(Buffer.byteLength(body));
  response.writeHead(status, { 'content-length': length, 'content-type': 'application/json', ...headers }).end(body);
}

/** Writes bytes cut at the given offsets. Between two pieces whoever shares this process's event loop gets to read. */
export async function writeInPieces({ response }: EngineCall, bytes: Buffer, cuts: readonly number[]): Promise<void> {
  response.socket?.setNoDelay(true);
  const ends = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].sort((a, b) => a - b);
  let start = 0;
  for (const end of [...ends, bytes.length]) {
    if (end === start) continue;
    response.write(bytes.subarray(start, end));
    // Two turns: the poll of this one may be over already.
    await nextTick();
    await nextTick();
    start = end;
  }
  response.end();
}

const listed = (model: { id: string; parent?: string | null }, { owner }: EngineWire): object => ({
  object: 'model',
  created: 1,
  owned_by: owner,
  root: model.id,
  parent: null,
  ...model,
});
