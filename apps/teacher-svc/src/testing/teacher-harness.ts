import { randomUUID } from 'node:crypto';
import { jetstream } from '@nats-io/jetstream';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import {
  contracts,
  decodeLogProbs,
  decodeTopK,
  encodeCapture,
  messageSchema,
  type BodyOf,
  type Capture,
  type MessageOf,
  type TopK,
} from '@hindcast/contracts';
import { Buckets, parseConfig, startService, type RunningService } from '@hindcast/platform';
import { startNatsServer, type NatsServer } from '../../../../libs/platform/src/testing/nats-server';
import { until } from '../../../../libs/platform/src/testing/until';
import { AppModule } from '../app.module';
import { TeacherConfig } from '../config';

export type TeacherResult = MessageOf<'turnScored'>['body']['teacher'];

export interface CapturedIds {
  readonly promptIds: readonly number[];
  readonly responseIds: readonly number[];
  readonly rolloutLogProbs?: readonly number[];
  readonly messages?: Capture['header']['messages'];
}

export const HINT = 'answer in kilometres';

/** A real teacher service and its NATS; one service at a time. */
export class TeacherHarness {
  private service: RunningService | null = null;
  private readonly scored = new Map<string, TeacherResult>();

  private constructor(
    private readonly nats: NatsServer,
    private readonly connection: NatsConnection,
  ) {
    connection.subscribe(contracts.turnScored.subject, {
      callback: (_, message) => {
        const { turnId, body } = messageSchema('turnScored').parse(message.json());
        this.scored.set(turnId!, body.teacher);
      },
    });
  }

  static async start(options: { maxPayload?: number } = {}): Promise<TeacherHarness> {
    const nats = await startNatsServer(options);
    return new TeacherHarness(nats, await connect({ servers: nats.url }));
  }

  async stop(): Promise<void> {
    await this.closeService();
    await this.connection.close();
    await this.nats.stop();
  }

  async closeService(): Promise<void> {
    await this.service?.close();
    this.service = null;
  }

  async startService(env: Record<string, string>): Promise<void> {
    const config = parseConfig('teacher-svc', TeacherConfig, {
      PORT: '0',
      NATS_URL: this.nats.url,
      LOG_LEVEL: 'silent',
      POLICY_MODEL: 'base',
      POLICY_API_KEY: 'k',
      ...env,
    });
    this.service = await startService({
      app: 'teacher-svc',
      config,
      module: AppModule,
      announce: () => undefined,
      timing: { retryBaseMs: 20, retryMaxMs: 50, waitMaxMs: 50 },
    });
  }

  /** Stores a capture, unless there is none, and publishes the hinted turn. */
  async publish(captured: CapturedIds | null, turnId: string = randomUUID()): Promise<string> {
    if (captured) await (await this.buckets.open('captures')).put(turnId, encodeCapture(captureOf(turnId, captured)));
    const message = { v: 1, turnId, tenant: 'acme', at: 1, body: hintedTurn };
    await jetstream(this.connection).publish(contracts.turnHinted.subject, JSON.stringify(message));
    return turnId;
  }

  /** What the service says of a turn, once it does. */
  async result(turnId: string): Promise<TeacherResult> {
    await until(() => this.scored.has(turnId));
    return this.scored.get(turnId)!;
  }

  async score(captured: CapturedIds | null): Promise<TeacherResult> {
    return this.result(await this.publish(captured));
  }

  async topKOf(turnId: string): Promise<TopK | null> {
    const entry = await (await this.buckets.open('topK')).get(turnId);
    return entry?.operation === 'PUT' ? decodeTopK(entry.value) : null;
  }

  /** Value of a metric, summed over its labels; 0 while it has none. */
  async metric(name: string, labels = ''): Promise<number> {
    const text = await (await fetch(`${this.url}/metrics`)).text();
    return text
      .split('\n')
      .filter((line) => line.startsWith(`hindcast_${name}`) && line.includes(labels))
      .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);
  }

  async readiness(): Promise<{ ready: boolean; degraded: string[] }> {
    return (await (await fetch(`${this.url}/readyz`)).json()) as { ready: boolean; degraded: string[] };
  }

  get buckets(): Buckets {
    return this.service!.app.get(Buckets);
  }

  private get url(): string {
    return `http://127.0.0.1:${this.service!.port}`;
  }
}

/** log π_T of a result that has them. */
export function logProbsOf(teacher: TeacherResult): number[] {
  if (!teacher.ok) throw new Error(`no teacher: ${teacher.reason}, ${teacher.detail}`);
  return [...decodeLogProbs(teacher.logProbs)];
}

const hintedTurn: BodyOf<'turnHinted'> = {
  responseId: 'r1',
  sessionId: null,
  policyVersion: 0,
  evalScore: -1,
  evalVotes: [],
  hintVotes: [],
  rewardSource: 'votes',
  verdicts: [],
  guards: [],
  judgeModel: 'j',
  promptVersion: 'v',
  latencyMs: 1,
  truncated: false,
  outcomePending: false,
  hint: HINT,
};

function captureOf(turnId: string, { promptIds, responseIds, rolloutLogProbs, messages }: CapturedIds): Capture {
  return {
    header: {
      turnId,
      tenant: 'acme',
      sessionId: null,
      responseId: 'r1',
      model: 'base',
      policyVersion: 0,
      dialect: 'vllm',
      messages: messages ?? [{ role: 'user', content: 'How far is the moon?' }],
      tools: null,
      templateArguments: messages ? null : { enable_thinking: false },
      answer: { role: 'assistant', content: 'Far.' },
      sampling: {
        temperature: 1,
        topP: 1,
        topK: null,
        minP: null,
        presencePenalty: 0,
        frequencyPenalty: 0,
        repetitionPenalty: null,
        seed: null,
      },
      finishReason: 'stop',
      at: 1,
    },
    promptIds: Int32Array.from(promptIds),
    responseIds: Int32Array.from(responseIds),
    rolloutLogProbs: Float32Array.from(rolloutLogProbs ?? responseIds.map(() => -1)),
  };
}
