import { setTimeout as sleep } from 'node:timers/promises';
import { ChatClient, type Ask } from '../apps/simulator/src/client';
import type { Answer } from '../apps/simulator/src/core/user';
import type { Replica } from './replica';

const POLL_MS = 100;

/**
 * A client behind what a Kubernetes Service does: each request goes to the next gateway of those that say that they are ready, which is
 * asked every 100 ms. Nothing is asked twice: what fails has failed.
 */
export class Balancer extends ChatClient {
  /** Requests by gateway. */
  readonly sent = new Map<Replica, number>();
  private readonly clients: Map<Replica, ChatClient>;
  private ready: readonly Replica[];
  private next = 0;
  private isWatching = true;
  private readonly watching: Promise<void>;

  constructor(private readonly gateways: readonly Replica[]) {
    super('http://unused');
    this.clients = new Map(gateways.map((gateway) => [gateway, new ChatClient(gateway.url)]));
    this.ready = gateways;
    this.watching = this.watch();
  }

  override ask(ask: Ask): Promise<Answer> {
    const gateway = this.ready[this.next++ % this.ready.length];
    if (!gateway) throw new Error('no gateway is ready');
    this.sent.set(gateway, (this.sent.get(gateway) ?? 0) + 1);
    return this.clients.get(gateway)!.ask(ask, 0);
  }

  async close(): Promise<void> {
    this.isWatching = false;
    await this.watching;
  }

  private async watch(): Promise<void> {
    while (this.isWatching) {
      const states = await Promise.all(this.gateways.map((gateway) => gateway.isReady()));
      this.ready = this.gateways.filter((_, index) => states[index]);
      await sleep(POLL_MS);
    }
  }
}
