import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { Server } from 'node:http';

const CLOSE_INTERVAL_MS = 100;

/** While the gateway shuts down, a connection closes as soon as its last answer is over, not when its client tires of it. */
@Injectable()
export class IdleConnections implements OnModuleDestroy {
  constructor(private readonly host: HttpAdapterHost) {}

  onModuleDestroy(): void {
    const server = this.host.httpAdapter.getHttpServer() as Server;
    const timer = setInterval(() => server.closeIdleConnections(), CLOSE_INTERVAL_MS);
    timer.unref();
    server.once('close', () => clearInterval(timer));
  }
}
