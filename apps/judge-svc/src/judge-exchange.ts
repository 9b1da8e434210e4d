import type { Dispatcher } from 'undici';
import type { VoteClock } from './vote-clock';

/** A whole answer, or as much of it as was wanted. */
export interface Exchanged {
  readonly statusCode: number;
  readonly retryAfter: string | undefined;
  /** `null`: longer than the limit; the rest is not waited for. */
  readonly body: Buffer | null;
}

/** Made once: an error has a stack, which takes longer than the rest of a request. */
const OVER = new Error('the time of this vote is over');
const TOO_LONG = new Error('the answer is longer than anybody reads');

/**
 * Sends a request and gathers its answer. A stream and a signal for each answer would do the same for several times the work, which is
 * done for every vote.
 *
 * @param limitOf longest body that is read of an answer with this status, bytes
 * @throws what undici or the connection throws, or that the clock has run out
 */
export function exchange(
  dispatcher: Dispatcher,
  options: Dispatcher.DispatchOptions,
  clock: VoteClock,
  limitOf: (statusCode: number) => number,
): Promise<Exchanged> {
  return new Promise((resolve, reject) => {
    const answer = new Gathering(clock, limitOf, resolve, reject);
    clock.whileUnderWay(() => answer.cutOff());
    dispatcher.dispatch(options, answer);
  });
}

class Gathering implements Dispatcher.DispatchHandler {
  private connection: Dispatcher.DispatchController | null = null;
  private statusCode = 0;
  private retryAfter: string | undefined;
  private limit = 0;
  private readonly pieces: Buffer[] = [];
  private bytes = 0;

  constructor(
    private readonly clock: VoteClock,
    private readonly limitOf: (statusCode: number) => number,
    private readonly resolve: (answer: Exchanged) => void,
    private readonly reject: (error: Error) => void,
  ) {}

  cutOff(): void {
    // What still waits for a connection is ended when it gets one.
    this.connection?.abort(OVER);
    this.reject(OVER);
  }

  onRequestStart(connection: Dispatcher.DispatchController): void {
    this.connection = connection;
    if (this.clock.isExpired) connection.abort(OVER);
  }

  onResponseStart(_: unknown, statusCode: number, headers: Record<string, string | string[] | undefined>): void {
    const retryAfter = headers['retry-after'];
    this.statusCode = statusCode;
    this.retryAfter = Array.isArray(retryAfter) ? retryAfter[0] : retryAfter;
    this.limit = this.limitOf(statusCode);
  }

  onResponseData(connection: Dispatcher.DispatchController, piece: Buffer): void {
    this.bytes += piece.length;
    if (this.bytes <= this.limit) {
      this.pieces.push(piece);
      return;
    }
    this.settle(null);
    connection.abort(TOO_LONG);
  }

  onResponseEnd(): void {
    this.settle(this.pieces.length === 1 ? this.pieces[0]! : Buffer.concat(this.pieces, this.bytes));
  }

  onResponseError(_: unknown, error: Error): void {
    this.clock.whileUnderWay(null);
    this.reject(error);
  }

  private settle(body: Buffer | null): void {
    this.clock.whileUnderWay(null);
    this.resolve({ statusCode: this.statusCode, retryAfter: this.retryAfter, body });
  }
}
