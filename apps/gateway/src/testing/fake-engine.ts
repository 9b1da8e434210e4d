import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

export interface FakeToken {
  readonly text: string;
  readonly id: number;
  readonly logProb: number | null;
}

export interface FakeAnswer {
  readonly tokens: readonly FakeToken[];
  readonly promptIds?: readonly number[];
  readonly finishReason?: string;
  /** Overrides of what the engine says it counted. */
  readonly usage?: { prompt_tokens: number; completion_tokens: number };
  readonly id?: string;
}

export interface EngineCall {
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly rawHeaders: string;
  readonly body: Record<string, unknown>;
  readonly response: ServerResponse;
  /** Resolves when the gateway closed the connection before the answer was over. */
  readonly aborted: Promise<void>;
}

type Script = (call: EngineCall) => unknown;

/** A policy engine that speaks vLLM's chat protocol over real sockets and does what a script tells it. */
export class FakeEngine {
  readonly calls: EngineCall[] = [];
  models: { id: string; parent?: string | null }[] = [{ id: 'seed' }];
  /** Status of `GET /health`; `null`: no answer. */
  health: number | null = 200;
  script: Script;
  private readonly sockets = new Set<Socket>();
  private responses = 0;

  private constructor(private readonly server: Server) {
    this.script = (call) => this.answer(call, answerOf('Hello'));
    server.on('connection', (socket: Socket) => {
      this.sockets.add(socket);
      socket.on('close', () => this.sockets.delete(socket));
    });
    server.on('request', (request: IncomingMessage, response: ServerResponse) => void this.serve(request, response));
  }

  static async start(): Promise<FakeEngine> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new FakeEngine(server);
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
      return void sendJson(response, 200, { object: 'list', data: this.models.map(listed) });
    const aborted = new Promise<void>((resolve) =>
      response.once('close', () => !response.writableFinished && resolve()),
    );
    const call: EngineCall = {
      path: request.url ?? '',
      headers: request.headers,
      rawHeaders: request.rawHeaders.join('\n'),
      body: JSON.parse(text) as Record<string, unknown>,
      response,
      aborted,
    };
    this.calls.push(call);
    await this.script(call);
  }

  /** Answers as vLLM would: streamed or whole, with what the request asked for. */
  answer(call: EngineCall, answer: FakeAnswer): void {
    if (call.body['stream'] !== true) return sendJson(call.response, 200, this.whole(call, answer));
    this.openStream(call);
    for (const event of this.events(call, answer)) call.response.write(event);
    call.response.end();
  }

  openStream(call: EngineCall): void {
    call.response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
    call.response.flushHeaders();
  }

  /** The events of a streamed answer, one string each: role, one per token, finish, usage, end mark. */
  events(call: EngineCall, answer: FakeAnswer): string[] {
    const { body } = call;
    const base = { id: answer.id ?? this.nextId(), object: 'chat.completion.chunk', created: 1, model: body['model'] };
    const wantsIds = body['return_token_ids'] === true;
    const event = (chunk: object): string => `data: ${JSON.stringify({ ...base, ...chunk })}\n\n`;
    const choice = (delta: object, token: FakeToken | null, finish: string | null): object => ({
      index: 0,
      delta,
      logprobs: token && body['logprobs'] === true ? { content: [logProbEntry(token)] } : null,
      finish_reason: finish,
      ...(wantsIds && { token_ids: token ? [token.id] : null }),
    });
    const events = [
      event({
        choices: [choice({ role: 'assistant', content: '' }, null, null)],
        ...(wantsIds && { prompt_token_ids: answer.promptIds ?? [1, 2, 3] }),
      }),
    ];
    answer.tokens.forEach((token, index) => {
      const isLast = index === answer.tokens.length - 1;
      events.push(
        event({ choices: [choice({ content: token.text }, token, isLast ? (answer.finishReason ?? 'stop') : null)] }),
      );
    });
    const options = body['stream_options'] as { include_usage?: boolean } | undefined;
    if (options?.include_usage) events.push(event({ choices: [], usage: usageOf(answer) }));
    return [...events, 'data: [DONE]\n\n'];
  }

  whole(call: EngineCall, answer: FakeAnswer): object {
    const { body } = call;
    const wantsIds = body['return_token_ids'] === true;
    return {
      id: answer.id ?? this.nextId(),
      object: 'chat.completion',
      created: 1,
      model: body['model'],
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: answer.tokens.map(({ text }) => text).join('') },
          logprobs: body['logprobs'] === true ? { content: answer.tokens.map(logProbEntry) } : null,
          finish_reason: answer.finishReason ?? 'stop',
          stop_reason: null,
          ...(wantsIds && { token_ids: answer.tokens.map(({ id }) => id) }),
        },
      ],
      usage: usageOf(answer),
      ...(wantsIds && { prompt_token_ids: answer.promptIds ?? [1, 2, 3] }),
    };
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

const listed = (model: { id: string; parent?: string | null }): object => ({
  object: 'model',
  created: 1,
  owned_by: 'vllm',
  root: model.id,
  parent: null,
  ...model,
});

const logProbEntry = ({ text, logProb }: FakeToken): object => ({
  token: text,
  logprob: logProb,
  bytes: [...Buffer.from(text)],
  top_logprobs: [],
});

const usageOf = (answer: FakeAnswer): object => {
  const usage = answer.usage ?? {
    prompt_tokens: (answer.promptIds ?? [1, 2, 3]).length,
    completion_tokens: answer.tokens.length,
  };
  return { ...usage, total_tokens: usage.prompt_tokens + usage.completion_tokens };
};
