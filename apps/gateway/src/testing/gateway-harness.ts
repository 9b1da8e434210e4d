import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  buckets,
  contracts,
  decodeCapture,
  type Capture,
  type ContractName,
  type MessageOf,
} from '@hindcast/contracts';
import { parseConfig, reusedMemory, type RunningService } from '@hindcast/platform';
import { DeliverPolicy, jetstream, jetstreamManager } from '@nats-io/jetstream';
import { Kvm, type KV } from '@nats-io/kv';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { GatewayConfig } from '../config';
import { startGateway } from '../start';

// Whoever reads memory that was given back reads what no test expects.
reusedMemory.poison();

/** A gateway in this process, with a folder of its own. */
export interface RunningGateway {
  readonly url: string;
  readonly dataDir: string;
  readonly service: RunningService;
  chat(body: object, headers?: Record<string, string>, signal?: AbortSignal): Promise<Response>;
  metric(name: string, labels?: string): Promise<number>;
  /** Several at the same moment. */
  metrics(...names: string[]): Promise<number[]>;
  stop(): Promise<void>;
}

export async function startTestGateway(
  env: Record<string, string>,
  dataDir?: string,
  options: { readonly shutdownMs?: number } = {},
): Promise<RunningGateway> {
  const folder = dataDir ?? mkdtempSync(join(tmpdir(), 'hindcast-gateway-'));
  const config = parseConfig('gateway', GatewayConfig, { PORT: '0', DATA_DIR: folder, LOG_LEVEL: 'silent', ...env });
  const service = await startGateway(config, { announce: () => undefined, shutdownMs: 500, ...options });
  const url = `http://127.0.0.1:${service.port}`;
  return {
    url,
    dataDir: folder,
    service,
    chat: (body, headers = {}, signal) =>
      fetch(`${url}/v1/chat/completions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body),
        ...(signal && { signal }),
      }),
    metric: async (name, labels = '') => sumOf(await (await fetch(`${url}/metrics`)).text(), name, labels),
    metrics: async (...names) => {
      const text = await (await fetch(`${url}/metrics`)).text();
      return names.map((name) => sumOf(text, name, ''));
    },
    stop: async () => {
      await service.close();
      if (!dataDir) rmSync(folder, { recursive: true, force: true });
    },
  };
}

function sumOf(text: string, name: string, labels: string): number {
  const lines = text.split('\n').filter((line) => line.startsWith(`hindcast_${name}{`) && line.includes(labels));
  return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);
}

/** Reads what the gateways put on the bus and into the buckets. */
export class BusReader {
  private constructor(private readonly connection: NatsConnection) {}

  static async connect(url: string): Promise<BusReader> {
    return new BusReader(await connect({ servers: url }));
  }

  /** Every message of a subject so far, oldest first. */
  async messages<N extends ContractName>(name: N): Promise<MessageOf<N>[]> {
    const manager = await jetstreamManager(this.connection);
    const { state } = await manager.streams.info('RL', { subjects_filter: contracts[name].subject });
    const count = Object.values(state.subjects ?? {}).reduce((sum, messages) => sum + messages, 0);
    if (count === 0) return [];
    const consumer = await jetstream(this.connection).consumers.get('RL', {
      filter_subjects: contracts[name].subject,
      deliver_policy: DeliverPolicy.All,
    });
    const found: MessageOf<N>[] = [];
    for await (const message of await consumer.fetch({ max_messages: count, expires: 5_000 })) {
      found.push(message.json<MessageOf<N>>());
      if (found.length === count) break;
    }
    return found;
  }

  /** Waits until a subject holds the message of a turn. */
  async messageOf<N extends ContractName>(name: N, turnId: string): Promise<MessageOf<N>> {
    return eventually(async () => (await this.messages(name)).find((message) => message.turnId === turnId));
  }

  async bucket(name: keyof typeof buckets): Promise<KV> {
    return new Kvm(this.connection).open(buckets[name]);
  }

  async capture(turnId: string): Promise<Capture | null> {
    const entry = await (await this.bucket('captures')).get(turnId);
    return entry?.operation === 'PUT' ? decodeCapture(entry.value) : null;
  }

  /** Keys of the open turns that are left. The client's own list of keys never ends where one of them is written meanwhile. */
  async openKeys(): Promise<string[]> {
    const prefix = `$KV.${buckets.openTurns}.`;
    const manager = await jetstreamManager(this.connection);
    const { state } = await manager.streams.info(`KV_${buckets.openTurns}`, { subjects_filter: `${prefix}>` });
    return Object.keys(state.subjects ?? {}).map((subject) => subject.slice(prefix.length));
  }

  async setPolicy(key: 'current' | 'trainer', value: object): Promise<void> {
    await (await this.bucket('policy')).put(key, JSON.stringify(value));
  }

  get raw(): NatsConnection {
    return this.connection;
  }

  async close(): Promise<void> {
    await this.connection.close();
  }
}

/** Asks again until there is an answer; the test's own time limit ends the waiting, which then keeps no process alive. */
export async function eventually<T>(ask: () => Promise<T | null | undefined | false>): Promise<T> {
  for (;;) {
    const answer = await ask().catch(() => null);
    if (answer !== null && answer !== undefined && answer !== false) return answer;
    await sleep(20, undefined, { ref: false });
  }
}

/** The data of every event of a streamed answer. */
export const dataOf = (text: string): string[] =>
  text
    .split(/\r?\n\r?\n/)
    .filter((block) => block.startsWith('data:'))
    .map((block) => block.slice(5).trim());

export const userSays = (...texts: string[]): object[] =>
  texts.map((content, index) => ({ role: index % 2 === 0 ? 'user' : 'assistant', content }));
