import type { IncomingHttpHeaders } from 'node:http';
import { GatheredBytes } from '@hindcast/platform';
import type { Agent, Dispatcher } from 'undici';
import type { StopSignal } from './abort';

/** What an engine may be ahead of who reads it, bytes; then its connection is paused. */
const AHEAD_BYTES = 64 * 1024;

export interface EngineResponse {
  readonly statusCode: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: EngineBody;
}

/**
 * An answer's body as it comes, for one reader, who gets every piece that came before an error. A Node stream would do the same for
 * several times the work, which is done for every piece of every answer.
 */
export class EngineBody implements AsyncIterable<Buffer> {
  private pieces: Buffer[] = [];
  /** What has come of a body that is wanted in one piece. */
  private gathered: GatheredBytes | null = null;
  private bytes = 0;
  private end: { readonly error: Error | null } | null = null;
  private wake: (() => void) | null = null;
  private listener: ((error: Error | null) => void) | null = null;
  private isDumped = false;
  private aheadBytes = AHEAD_BYTES;
  private roomBytes = Infinity;

  /** @param expectedBytes as the engine said it would send, 0 where it did not */
  constructor(
    private readonly connection: Dispatcher.DispatchController,
    private readonly expectedBytes = 0,
  ) {}

  /** The engine has said all, or nothing more is wanted of it. */
  get isOver(): boolean {
    return this.end !== null;
  }

  /** Called once, when the engine ends the body, with an error when it breaks it off. Not when the reader gives it up. */
  onOver(listener: (error: Error | null) => void): void {
    // A short answer is whole before anybody has seen its head.
    if (this.end) listener(this.end.error);
    else this.listener = listener;
  }

  push(piece: Buffer): void {
    if (this.end) return;
    this.bytes += piece.length;
    if (this.isDumped) {
      if (this.bytes > this.roomBytes) this.destroy();
      return;
    }
    if (this.gathered) this.gathered.add(piece);
    else this.pieces.push(piece);
    if (this.bytes > this.aheadBytes) this.connection.pause();
    this.wake?.();
  }

  finish(error: Error | null): void {
    if (this.end) return;
    this.end = { error };
    this.listener?.(error);
    this.wake?.();
  }

  /** Closes the connection unless the engine has said all; who reads gets the error. */
  destroy(error: Error | null = null): void {
    if (this.end) return;
    this.end = { error };
    this.pieces = [];
    this.connection.abort(error ?? new Error('the answer is not read any further'));
    this.wake?.();
  }

  /** Reads it to its end without keeping it; closes the connection where that is more than `limitBytes` away. Never throws. */
  async dump(limitBytes: number): Promise<void> {
    this.isDumped = true;
    this.roomBytes = this.bytes = 0;
    this.pieces = [];
    this.roomBytes = limitBytes;
    this.connection.resume();
    while (!this.end) await this.news();
  }

  /**
   * All of it in one piece, which is the reader's until `giveBack`: the engine is not paused meanwhile.
   *
   * @returns `null` when it is more than `limitBytes`; then the connection is closed
   * @throws what the engine broke it off with
   */
  async whole(limitBytes: number): Promise<Buffer | null> {
    this.aheadBytes = limitBytes;
    const gathered = (this.gathered = new GatheredBytes(this.expectedBytes));
    for (const piece of this.pieces.splice(0)) gathered.add(piece);
    this.connection.resume();
    while (!this.end && this.bytes <= limitBytes) await this.news();
    if (this.bytes > limitBytes) {
      this.destroy();
      return null;
    }
    if (this.end?.error) throw this.end.error;
    return gathered.bytes;
  }

  /** Nobody has a view any more of what `whole` gave. */
  giveBack(): void {
    this.gathered?.giveBack();
    this.gathered = null;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Buffer, void, void> {
    try {
      for (;;) {
        const { pieces } = this;
        if (pieces.length > 0) {
          this.pieces = [];
          this.bytes = 0;
          this.connection.resume();
          // What has come since is one piece: what follows from it is then done once, as a write to the client.
          yield pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces);
        } else if (!this.end) await this.news();
        else if (this.end.error) throw this.end.error;
        else return;
      }
    } finally {
      this.destroy();
    }
  }

  private news(): Promise<void> {
    return new Promise((resolve) => {
      this.wake = () => {
        this.wake = null;
        resolve();
      };
    });
  }
}

/**
 * Sends a request; resolves with its response once its head has come.
 *
 * @param signal closes the connection, before the head and after it
 * @throws what undici or the connection throws, and the signal's reason
 */
export function exchange(
  agent: Agent,
  options: Dispatcher.DispatchOptions,
  signal: StopSignal,
): Promise<EngineResponse> {
  return new Promise((resolve, reject) => {
    let controller: Dispatcher.DispatchController | null = null;
    let body: EngineBody | null = null;
    const leave = (): void => controller?.abort(signal.reason as Error);
    const over = (error: Error | null): void => {
      signal.removeEventListener('abort', leave);
      if (body) body.finish(error);
      else if (error) reject(error);
    };
    signal.addEventListener('abort', leave);
    agent.dispatch(options, {
      onRequestStart: (started) => {
        controller = started;
        if (signal.aborted) leave();
      },
      onResponseStart: (_, statusCode, headers) => {
        if (statusCode < 200) return;
        body = new EngineBody(controller!, Number(headers['content-length']) || 0);
        resolve({ statusCode, headers, body });
      },
      onResponseData: (_, piece) => body?.push(piece),
      onResponseEnd: () => over(null),
      onResponseError: (_, error) => over(error),
    });
  });
}
