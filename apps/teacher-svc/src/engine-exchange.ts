import type { Dispatcher } from 'undici';

/** A whole answer. */
export interface Exchanged {
  readonly statusCode: number;
  readonly body: Buffer;
}

/** Made once: an error has a stack, which takes longer than the rest of a small request. */
const OVER = new Error('the time of this call is over');

/**
 * Sends a request and gathers its answer. A stream and a signal for each answer would do the same for several times the work, which is
 * done three times a turn.
 *
 * @throws what undici or the connection throws, or that `timeoutMs` have passed, waiting for a free connection included
 */
export function exchange(
  dispatcher: Dispatcher,
  options: Dispatcher.DispatchOptions,
  timeoutMs: number,
): Promise<Exchanged> {
  return new Promise((resolve, reject) => {
    const answer = new Gathering(timeoutMs, resolve, reject);
    try {
      dispatcher.dispatch(options, answer);
    } catch (error) {
      answer.fail(error as Error);
    }
  });
}

class Gathering implements Dispatcher.DispatchHandler {
  private connection: Dispatcher.DispatchController | null = null;
  private isOver = false;
  private statusCode = 0;
  private readonly pieces: Buffer[] = [];
  private readonly timer: NodeJS.Timeout;

  constructor(
    timeoutMs: number,
    private readonly resolve: (answer: Exchanged) => void,
    private readonly reject: (error: Error) => void,
  ) {
    this.timer = setTimeout(() => this.cutOff(), timeoutMs).unref();
  }

  fail(error: Error): void {
    clearTimeout(this.timer);
    this.reject(error);
  }

  onRequestStart(connection: Dispatcher.DispatchController): void {
    this.connection = connection;
    // It waited for a connection until nobody wanted it any more.
    if (this.isOver) connection.abort(OVER);
  }

  onResponseStart(_: unknown, statusCode: number): void {
    this.statusCode = statusCode;
  }

  onResponseData(_: unknown, piece: Buffer): void {
    this.pieces.push(piece);
  }

  onResponseEnd(): void {
    clearTimeout(this.timer);
    const { statusCode, pieces } = this;
    this.resolve({ statusCode, body: pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces) });
  }

  onResponseError(_: unknown, error: Error): void {
    this.fail(error);
  }

  private cutOff(): void {
    this.isOver = true;
    this.connection?.abort(OVER);
    this.fail(OVER);
  }
}
