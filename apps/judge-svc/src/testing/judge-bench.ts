import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { Kvm, type KV } from '@nats-io/kv';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import {
  buckets,
  contracts,
  durableName,
  messageSchema,
  type BodyOf,
  type BucketName,
  type MessageOf,
} from '@hindcast/contracts';
import { parseConfig, startService, type RunningService } from '@hindcast/platform';
import { startNatsServer, type NatsServer } from '../../../../libs/platform/src/testing/nats-server';
import { until } from '../../../../libs/platform/src/testing/until';
import { AppModule } from '../app.module';
import { JudgeConfig } from '../config';
import { startFakeJudge, type FakeJudge, type SeenCall } from './fake-judge';
import { VoteClocks } from './vote-clocks';

export type Judged = MessageOf<'turnHinted'> | MessageOf<'turnUnhinted'>;

export const pairedTurn = (over: Partial<BodyOf<'turnPaired'>> = {}): BodyOf<'turnPaired'> => ({
  responseId: 'r1',
  sessionId: null,
  policyVersion: 2,
  conversation: [{ role: 'user', text: 'How far is the moon?', toolName: null }],
  answer: '**384,400 km**',
  nextState: [{ role: 'user', text: 'Please do not use bold.', toolName: null }],
  truncated: false,
  outcomePending: false,
  groundTruth: null,
  ...over,
});

/** Judge services under test with a nats-server and a fake judge of their own. */
export class JudgeBench {
  judge!: FakeJudge;
  readonly services: RunningService[] = [];
  /** Of the votes of all services here. */
  readonly clocks = new VoteClocks();
  private readonly judgements = new Map<string, Judged>();

  private constructor(
    private readonly nats: NatsServer,
    private readonly connection: NatsConnection,
  ) {
    for (const name of ['turnHinted', 'turnUnhinted'] as const) {
      connection.subscribe(contracts[name].subject, {
        callback: (_error, message) => {
          const judged = messageSchema(name).parse(message.json()) as Judged;
          this.judgements.set(judged.turnId!, judged);
        },
      });
    }
  }

  static async open(): Promise<JudgeBench> {
    const nats = await startNatsServer();
    return new JudgeBench(nats, await connect({ servers: nats.url }));
  }

  /** A fake judge that follows the script, and a service that asks it. */
  async start(
    script: (call: SeenCall, n: number, response: ServerResponse) => void,
    env: Record<string, string> = {},
  ): Promise<void> {
    this.judge = await startFakeJudge(script);
    await this.addService({ JUDGE_BASE_URL: this.judge.baseUrl, ...env });
  }

  async addService(env: Record<string, string>): Promise<RunningService> {
    const config = parseConfig('judge-svc', JudgeConfig, {
      PORT: '0',
      NATS_URL: this.nats.url,
      LOG_LEVEL: 'silent',
      JUDGE_MODEL: 'j',
      JUDGE_API_KEY: 'judge-key',
      ...env,
    });
    const service = await startService({
      app: 'judge-svc',
      config,
      module: AppModule.with(config),
      announce: () => undefined,
      shutdownMs: 100,
    });
    this.services.push(service);
    return service;
  }

  async publish(body = pairedTurn(), turnId: string = randomUUID()): Promise<string> {
    const envelope = { v: 1, turnId, tenant: 'acme', at: Date.now(), body };
    await jetstream(this.connection).publish(contracts.turnPaired.subject, JSON.stringify(envelope));
    return turnId;
  }

  /** Publishes a paired turn and waits for its judgement. */
  async judged(body = pairedTurn(), turnId: string = randomUUID()): Promise<Judged> {
    await this.publish(body, turnId);
    await until(() => this.judgements.has(turnId));
    return this.judgements.get(turnId)!;
  }

  /** The same, where the judge fails: the votes' deadline comes once so many requests of this service have failed. */
  async judgedAfterFailures(count: number): Promise<Judged> {
    const turnId = await this.publish();
    await this.failures(count);
    this.clocks.strike();
    await until(() => this.judgements.has(turnId));
    return this.judgements.get(turnId)!;
  }

  /** Waits until so many requests of this service have brought no completion. */
  failures(count: number): Promise<void> {
    return until(async () => {
      const found = (await this.metrics()).matchAll(/^hindcast_judge_failed_calls_total\{.*\} (\d+)$/gm);
      return [...found].reduce((sum, [, value]) => sum + Number(value), 0) >= count;
    });
  }

  of(turnId: string): Judged | undefined {
    return this.judgements.get(turnId);
  }

  /** How many turns were judged so far. */
  get count(): number {
    return this.judgements.size;
  }

  async consumer(): Promise<{ inHand: number; waiting: number; redelivered: number }> {
    const manager = await jetstreamManager(this.connection);
    const info = await manager.consumers.info('RL', durableName('judge-svc', contracts.turnPaired.subject));
    return { inHand: info.num_ack_pending, waiting: info.num_pending, redelivered: info.num_redelivered };
  }

  bucket(name: BucketName): Promise<KV> {
    return new Kvm(this.connection).create(buckets[name]);
  }

  async metrics(service = this.services[0]!): Promise<string> {
    return (await fetch(`http://127.0.0.1:${service.port}/metrics`)).text();
  }

  /** Ends services and judge, and forgets what waits in the stream. */
  async reset(): Promise<void> {
    for (const service of this.services.splice(0)) await service.close();
    await this.judge?.stop();
    const manager = await jetstreamManager(this.connection);
    await manager.streams.purge('RL');
    for await (const stream of manager.streams.list())
      if (stream.config.name === `KV_${buckets.judgeBudget}`) await manager.streams.purge(stream.config.name);
    this.judgements.clear();
  }

  async close(): Promise<void> {
    await this.connection.close();
    await this.nats.stop();
  }
}

export const asksForHint = (call: SeenCall): boolean => call.body.messages[0]!.content.includes('[HINT_START]');
