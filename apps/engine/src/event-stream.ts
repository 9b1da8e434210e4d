import { setMaxListeners } from 'node:events';
import { HttpException } from '@nestjs/common';
import type { Log } from '@hindcast/platform';
import type { FastifyReply } from 'fastify';

/** nginx's status for it: nobody reads it, and a client that leaves is no failure of the engine. */
const CLIENT_CLOSED_REQUEST = 499;

/** An aborted signal as soon as the client is gone before its answer is complete. */
export function clientSignal(reply: FastifyReply): AbortSignal {
  const controller = new AbortController();
  // One listener per choice.
  setMaxListeners(0, controller.signal);
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished)
      controller.abort(new HttpException('the client closed the connection', CLIENT_CLOSED_REQUEST));
  });
  return controller.signal;
}

/** Server-sent events as vLLM writes them. The headers leave with the first event. */
export class EventStream {
  private isOpen = false;

  constructor(private readonly reply: FastifyReply) {}

  get hasBegun(): boolean {
    return this.isOpen;
  }

  send(event: object): void {
    this.open();
    this.reply.raw.write(`data: ${JSON.stringify(event)}\n\n`);
  }

  end(): void {
    this.open();
    this.reply.raw.end('data: [DONE]\n\n');
  }

  private open(): void {
    if (this.isOpen) return;
    this.isOpen = true;
    this.reply.hijack();
    this.reply.raw.writeHead(200, {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache',
      connection: 'keep-alive',
    });
  }
}

/**
 * Writes a stream that `generate` fills. What fails before the first event is thrown, for a real status; later it is logged and
 * becomes vLLM's error event.
 */
export async function streamEvents(
  reply: FastifyReply,
  signal: AbortSignal,
  log: Log,
  generate: (stream: EventStream) => Promise<void>,
): Promise<void> {
  const stream = new EventStream(reply);
  try {
    await generate(stream);
    if (!signal.aborted) stream.end();
  } catch (error) {
    if (signal.aborted) return;
    if (!stream.hasBegun) throw error;
    log.error('stream.failed', { error });
    const message = error instanceof Error ? error.message : String(error);
    stream.send({ error: { message, type: 'InternalServerError', param: null, code: 500 } });
    stream.end();
  }
}
