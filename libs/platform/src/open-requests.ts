import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { Injectable } from '@nestjs/common';
import { Metrics } from './metrics';

/** What runs a service asks these, and they are no load: probes and scrapes. */
const OPERATIONS = /^\/(healthz|readyz|metrics)(\?|$)/;

/** A stream that a page listens to for as long as it is open: it waits, and is no load. */
const WAITING = /^\/admin\/v1\/events(\?|$)/;

/** Whether a URL is one that every service answers for who runs it. */
export const isOperation = (url: string): boolean => OPERATIONS.test(url);

/** Every HTTP request of this process that has not been answered to its end. */
@Injectable()
export class OpenRequests {
  private readonly open = new Set<ServerResponse>();
  private working = 0;
  private isLeaving = false;

  constructor(metrics: Metrics) {
    metrics.gauge(
      'requests_in_flight',
      'Requests of clients under way, streamed answers until their last byte included; probes, scrapes and the dashboard’s event streams are none',
      [],
      (gauge) => gauge.set(this.working),
    );
  }

  /** From now on this server's requests are counted. */
  follow(server: Server): void {
    // Before the server's own listener, which may answer at once.
    server.prependListener('request', ({ url }: IncomingMessage, response: ServerResponse) => {
      const isWork = !isOperation(url ?? '') && !WAITING.test(url ?? '');
      this.open.add(response);
      if (isWork) this.working++;
      if (this.isLeaving) response.shouldKeepAlive = false;
      response.once('close', () => {
        this.open.delete(response);
        if (isWork) this.working--;
      });
    });
  }

  /**
   * Every answer from now on says `Connection: close`, so that a client which keeps its connection opens the next one elsewhere. Those
   * under way say it too, where their head has not been sent.
   */
  leave(): void {
    this.isLeaving = true;
    for (const response of this.open) if (!response.headersSent) response.shouldKeepAlive = false;
  }
}
