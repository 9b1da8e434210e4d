import type { Server } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { Bus } from './bus';
import { signalsAreHandled } from './early-signals';
import { Health } from './health';
import type { JetStreamStrategy } from './jetstream.strategy';
import type { Log } from './log';
import { Nats } from './nats';
import { OpenRequests } from './open-requests';

const CLOSE_INTERVAL_MS = 100;
/** A collector that is there takes what is left at once; one that is away holds nothing up for longer. */
const LAST_TRACES_MS = 3_000;

/** Milliseconds. */
export interface ShutdownTiming {
  /** New requests are still taken for so long. */
  readonly delayMs: number;
  /** Handlers, from the signal on, and open requests, from the end of the delay on, may take so long. */
  readonly limitMs: number;
}

export interface ShutdownOptions extends ShutdownTiming {
  /** Sends the traces that are left, within so many milliseconds. */
  readonly stopTracing: (limitMs: number) => Promise<void>;
}

/**
 * What ends a service: not ready at once and no more messages taken; requests for another while; then no new connections, while open
 * requests and handlers come to their end; then the app's own parts, the connection to NATS, and the traces of all that last. Requests
 * that come on a connection which was open before are answered as long as anything is.
 */
export function closer(
  app: NestFastifyApplication,
  strategy: JetStreamStrategy | null,
  { delayMs, limitMs, stopTracing }: ShutdownOptions,
): () => Promise<void> {
  const close = async (): Promise<void> => {
    app.get(Health).addCheck('shutdown', () => {
      throw new Error('shutting down');
    });
    app.get(OpenRequests).leave();
    app.get(Bus).leaveSurveys();
    const handled = strategy?.drain(limitMs);
    if (delayMs > 0) await sleep(delayMs);
    try {
      await Promise.all([handled, answered(app, limitMs)]);
      await app.get(Bus).stopAnswering();
      await app.close();
    } finally {
      await app.get(Nats).close();
      await stopTracing(Math.min(limitMs, LAST_TRACES_MS));
    }
  };
  let closing: Promise<void> | null = null;
  return () => (closing ??= close());
}

/** Stops listening; resolves when the last connection is closed, which is cut after `limitMs`. */
async function answered(app: NestFastifyApplication, limitMs: number): Promise<void> {
  const server = app.getHttpServer() as Server;
  const force = setTimeout(() => server.closeAllConnections(), limitMs);
  // A connection closes soon after its last answer, not when its client tires of it.
  const idle = setInterval(() => server.closeIdleConnections(), CLOSE_INTERVAL_MS).unref();
  try {
    await app.getHttpAdapter().close();
  } finally {
    clearTimeout(force);
    clearInterval(idle);
  }
}

/** SIGTERM and SIGINT drain, then end the process; the second signal ends it at once. */
export function onSignals(log: Log, close: () => Promise<void>): () => void {
  let asked = false;
  const listener = (signal: NodeJS.Signals): void => {
    if (asked) process.exit(1);
    asked = true;
    log.info('shutdown', { signal });
    void close().then(
      () => process.exit(0),
      (error: unknown) => {
        log.error('shutdown.failed', { error });
        process.exit(1);
      },
    );
  };
  process.on('SIGTERM', listener);
  process.on('SIGINT', listener);
  signalsAreHandled();
  return () => {
    process.off('SIGTERM', listener);
    process.off('SIGINT', listener);
  };
}
