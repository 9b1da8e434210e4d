import { randomUUID } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  buckets,
  contracts,
  CurrentPolicy,
  durableName,
  encodeIds,
  encodeLogProbs,
  RollbackAnswer,
  type MessageOf,
  type RollbackWish,
  type Sample,
} from '@hindcast/contracts';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { Kvm, type KV } from '@nats-io/kv';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { startNatsServer, type NatsServer } from '../../../../libs/platform/src/testing/nats-server';
import { until } from '../../../../libs/platform/src/testing/until';
import { Manifest, versionFolder } from '../core/manifest';
import { readConfig, type TrainerConfig } from '../config';
import { FakeEngine, type FakeKind } from './fake-engine';
import { SEED_MODEL } from './fixtures';

const SETTLED_MS = 200;

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** A real nats-server, a scripted engine and an empty folder for policies. */
export class Bench {
  engine!: FakeEngine;
  policyDir = '';
  private folder = '';

  nats!: NatsServer;
  private connection!: NatsConnection;

  /** Starts everything afresh. */
  async start(kind: FakeKind = 'vllm'): Promise<void> {
    this.nats = await startNatsServer();
    this.connection = await connect({ servers: this.nats.url });
    this.engine = await new FakeEngine(kind).start();
    this.folder = mkdtempSync(join(tmpdir(), 'hindcast-trainer-'));
    this.policyDir = join(this.folder, 'policies');
  }

  async stop(): Promise<void> {
    await this.engine.die();
    await this.connection.close();
    await this.nats.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }

  env(over: Record<string, string> = {}): Record<string, string> {
    return {
      PORT: '0',
      LOG_LEVEL: process.env['TEST_LOG'] ?? 'silent',
      NATS_URL: this.nats.url,
      POLICY_DIR: this.policyDir,
      MODEL_DIR: SEED_MODEL,
      POLICY_BASE_URL: this.engine.baseUrl,
      BACKEND: 'onnx',
      THREADS: '1',
      LORA_RANK: '2',
      LORA_ALPHA: '4',
      LEARNING_RATE: '0.005',
      BATCH_SIZE: '2',
      BATCH_MIN: '2',
      RECONCILE_MS: '50',
      ...over,
    };
  }

  config(over: Record<string, string> = {}): TrainerConfig {
    return readConfig(this.env(over));
  }

  /** Publishes a sample as the dispatcher does. @returns its turn id */
  async publish(over: Partial<Mutable<Sample>> = {}, turnId: string = randomUUID(), attempt = ''): Promise<string> {
    const body: Sample = {
      sessionId: null,
      responseId: `response-${turnId}`,
      policyVersion: 0,
      case: 'rl',
      method: 'combine',
      reward: 1,
      rewardSource: 'votes',
      promptIds: encodeIds([5, 2, 80, 81, 4, 3]),
      responseIds: encodeIds([70, 71, 4]),
      rolloutLogProbs: encodeLogProbs([-9, -10, -11]),
      teacherLogProbs: null,
      hint: null,
      evalScore: 1,
      teacherModel: null,
      topK: null,
      ...over,
    };
    const message: MessageOf<'sampleReady'> = { v: 1, turnId, tenant: 'default', at: Date.now(), body };
    const msgID = `sample.${turnId}${attempt}`;
    await jetstream(this.connection).publish(contracts.sampleReady.subject, JSON.stringify(message), { msgID });
    return turnId;
  }

  /** What KV `policy` says; `null` before the trainer wrote it. */
  async board(): Promise<CurrentPolicy | null> {
    const entry = await (await this.policyBucket())?.get('current');
    return entry ? CurrentPolicy.parse(entry.json()) : null;
  }

  async serves(version: number): Promise<void> {
    // An answer of the server that comes late on a busy machine is asked for again.
    await until(async () => (await this.board().catch(() => null))?.version === version);
  }

  async settings(): Promise<unknown> {
    return (await (await this.policyBucket())?.get('trainer'))?.json();
  }

  /** Asks over the bus for an earlier version, as a gateway does. @returns the id of the wish */
  async wishFor(version: number, reason: string | null = null): Promise<string> {
    const id = randomUUID();
    const wish: RollbackWish = { id, version, reason, at: Date.now() };
    await (await this.policyBucket())!.put('rollback-request', JSON.stringify(wish));
    return id;
  }

  /** What the trainer said of a wish. */
  async answerTo(id: string): Promise<RollbackAnswer | null> {
    const entry = await (await this.policyBucket())?.get('rollback-outcome');
    const answer = entry?.operation === 'PUT' ? RollbackAnswer.parse(entry.json()) : null;
    return answer?.id === id ? answer : null;
  }

  async forgetAnswer(): Promise<void> {
    await (await this.policyBucket())!.delete('rollback-outcome');
  }

  /** `null` until it has been there for a moment: nats-server 2.9 dies of a read while a bucket is being made. */
  private async policyBucket(): Promise<KV | null> {
    const manager = await jetstreamManager(this.connection, { checkAPI: false });
    const info = await manager.streams.info(`KV_${buckets.policy}`).catch(() => null);
    if (!info || Date.now() - Date.parse(info.created) < SETTLED_MS) return null;
    return await new Kvm(this.connection).open(buckets.policy);
  }

  /** Every stored message of a contract, in order. */
  async stored<N extends 'policyUpdated' | 'sampleRefused' | 'sampleTrained'>(name: N): Promise<MessageOf<N>[]> {
    const consumer = await jetstream(this.connection).consumers.get('RL', { filter_subjects: contracts[name].subject });
    const found: MessageOf<N>[] = [];
    const { num_pending: pending } = await consumer.info();
    if (pending === 0) return found;
    for await (const message of await consumer.fetch({ max_messages: pending })) found.push(message.json());
    return found;
  }

  /** Messages that the trainer got and did not acknowledge yet, and those it did not get. */
  async unacknowledged(): Promise<number> {
    const manager = await jetstreamManager(this.connection);
    const durable = durableName('trainer', contracts.sampleReady.subject);
    const info = await manager.consumers.info('RL', durable).catch(() => null);
    return info ? info.num_ack_pending + info.num_pending : Infinity;
  }

  manifests(): Manifest[] {
    if (!existsSync(this.policyDir)) return [];
    return readdirSync(this.policyDir)
      .filter((name) => /^v\d{6}$/.test(name))
      .sort()
      .map((name) => Manifest.parse(this.json(name, 'manifest.json')));
  }

  /** The manifest as it was before the version's publication was recorded. */
  forgetPublication(version: number): void {
    const path = join(this.policyDir, versionFolder(version), 'manifest.json');
    const manifest = Manifest.parse(JSON.parse(readFileSync(path, 'utf8')));
    writeFileSync(path, JSON.stringify({ ...manifest, state: 'committed' }));
  }

  json(...path: string[]): unknown {
    return JSON.parse(readFileSync(join(this.policyDir, ...path), 'utf8'));
  }
}
