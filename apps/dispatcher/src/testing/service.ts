import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  encodeCapture,
  contracts,
  messageSchema,
  type BodyOf,
  type ContractName,
  type MessageOf,
  type TurnDetail,
} from '@hindcast/contracts';
import { Buckets, Bus, type RunningService } from '@hindcast/platform';
import { AckPolicy, DeliverPolicy, jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { readConfig } from '../config';
import { startDispatcher } from '../service';
import { capture } from './turns';

/** A dispatcher in this process, quiet and with short waits. */
export function startTestDispatcher(env: Record<string, string>): Promise<RunningService> {
  const config = readConfig({ PORT: '0', LOG_LEVEL: process.env['TEST_LOG'] ?? 'silent', ...env });
  return startDispatcher(config, {
    announce: () => undefined,
    timing: { retryBaseMs: 20, retryMaxMs: 200 },
  });
}

/** Puts a capture for a new turn into the bucket and returns the turn's id. */
export async function storeCapture(service: RunningService, responseId: string): Promise<string> {
  const turnId = randomUUID();
  const bucket = await service.app.get(Buckets).open('captures');
  await bucket.put(turnId, encodeCapture(capture(turnId, responseId)));
  return turnId;
}

/** Publishes as the other services do, but under an id of its own each time: the ledger alone has to tell what came before. */
export async function send<N extends ContractName>(
  service: RunningService,
  name: N,
  turnId: string | null,
  body: BodyOf<N>,
): Promise<void> {
  await service.app.get(Bus).publish(name, { turnId, tenant: 'acme', body, id: randomUUID() });
}

/** All that the ledger knows of a turn; `null`: nothing. */
export async function turnDetail(
  service: RunningService,
  id: string,
  tenant: string | null = null,
): Promise<TurnDetail | null> {
  const answer = await service.app.get(Bus).request('turnDetail', { tenant, id });
  return answer.found ? answer.detail : null;
}

/** All messages of a subject so far. */
export async function published<N extends ContractName>(url: string, name: N): Promise<MessageOf<N>[]> {
  const connection: NatsConnection = await connect({ servers: url });
  try {
    const stream = 'RL';
    const manager = await jetstreamManager(connection);
    const { subject } = contracts[name];
    const { name: consumer } = await manager.consumers.add(stream, {
      ack_policy: AckPolicy.None,
      deliver_policy: DeliverPolicy.All,
      filter_subject: subject,
      inactive_threshold: 5_000_000_000,
    });
    const reader = await jetstream(connection).consumers.get(stream, consumer);
    const messages: MessageOf<N>[] = [];
    const { num_pending: pending } = await reader.info();
    if (pending === 0) return messages;
    for await (const message of await reader.fetch({ max_messages: pending, expires: 5_000 })) {
      messages.push(messageSchema(name).parse(message.json()));
      if (messages.length === pending) break;
    }
    return messages;
  } finally {
    await connection.close();
  }
}

/** Waits for a condition; what cannot be asked yet does not hold yet. The test's own time limit ends the wait. */
export async function eventually(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition().catch(() => false))) await sleep(30);
}
