import { question, random } from '@hindcast/seed-world';
import OpenAI from 'openai';
import { imbalances } from '../apps/simulator/src/core/report';
import { status, type Status } from '../apps/simulator/src/ledger';
import { runSession } from '../apps/simulator/src/session';
import { until } from '../libs/platform/src/testing/until';
import { Balancer } from './balancer';
import { Cluster, type App } from './cluster';
import { manifests } from './manifests';
import type { Replica } from './replica';

const USERS = 4;

// Two gateways, two dispatchers, four judges, two teachers; every request of a conversation goes to another gateway than the one before.
describe('many replicas', () => {
  let cluster: Cluster;
  let balancer: Balancer;
  /** Main answers that reached their clients. */
  let answers = 0;
  let sessions = 0;

  beforeAll(async () => {
    cluster = await Cluster.start({ gateway: { SHUTDOWN_DELAY_SECONDS: '1' } });
    balancer = new Balancer(cluster.of('gateway'));
  });
  afterAll(async () => {
    await balancer?.close();
    await cluster?.stop();
  });

  /** Users who talk, one conversation after the other, until `isOver`. Rejects at the first request that fails. */
  function load(isOver: () => boolean): Promise<void> {
    const user = async (n: number): Promise<void> => {
      const draw = random(`many replicas ${n}`);
      while (!isOver()) {
        const seed = sessions++;
        const result = await runSession(balancer, {
          persona: 'student',
          feedback: 'explicit',
          question: question(draw),
          draw,
          sessionId: `many-${seed}`,
          seed,
        });
        answers += result.answers;
      }
    };
    return Promise.all(Array.from({ length: USERS }, (_, n) => user(n))).then(() => undefined);
  }

  /** The books once every answer is known and decided, and no step is due. */
  async function settled(): Promise<Status> {
    let now: Status | null = null;
    await until(async () => {
      now = await status(cluster.of('gateway')[0]!.url).catch(() => null);
      if (now === null) return false;
      const stepDue = now.batchSize !== null && now.waitingSamples >= now.batchSize;
      return now.turns.captured >= answers && now.turns.open === 0 && now.cases.deciding === 0 && !stepDue;
    });
    return now!;
  }

  /** Nothing lost, nothing twice. */
  async function expectWholeBooks(): Promise<void> {
    const now = await settled();
    expect(imbalances(now)).toEqual([]);
    expect({ reasons: now.reasons, lost: await cluster.turnsNot('paired', 'untrainable') }).toMatchObject({ lost: [] });
    const { captured, paired, untrainable } = now.turns;
    expect({ captured, ended: paired + untrainable }).toEqual({ captured: answers, ended: answers });
    const trained = manifests(cluster.policyDir).flatMap(({ turnIds }) => turnIds);
    expect(new Set(trained).size).toBe(trained.length);
    expect(now.samplesTrained).toBe(trained.length);
  }

  it('share one set of books', async () => {
    const before = answers;
    await load(() => answers >= before + 40);
    await expectWholeBooks();
    expect((await settled()).versionsPublished).toBeGreaterThan(0);
    expect([...balancer.sent.values()].every((requests) => requests > 20)).toBe(true);
  });

  it('are restarted one by one under load: no request fails, no stream is cut, no turn is lost', async () => {
    let isOver = false;
    const talking = load(() => isOver);
    const restart = async (replica: Replica): Promise<void> => {
      const stream = replica.app === 'gateway' ? await LongStream.begin(replica.url) : null;
      expect([replica.name, await replica.terminate()]).toEqual([replica.name, 0]);
      if (stream) expect(await stream.end()).toEqual({ finishReason: 'length', tokens: LONG_TOKENS });
      if (stream) answers++;
      await replica.start();
    };
    const rolling = (async () => {
      for (const app of ['gateway', 'judge-svc', 'teacher-svc', 'dispatcher', 'trainer'] satisfies App[])
        for (const replica of cluster.of(app)) await restart(replica);
    })();
    try {
      await Promise.race([rolling, talking]);
      await rolling;
    } finally {
      isOver = true;
    }
    await talking;
    await expectWholeBooks();
  });
});

const LONG_TOKENS = 400;

/** An answer that takes longer than its gateway has been asked to. */
class LongStream {
  private constructor(private readonly rest: Promise<{ finishReason: string | null; tokens: number | undefined }>) {}

  /** Resolves once the answer has begun. */
  static async begin(gatewayUrl: string): Promise<LongStream> {
    const client = new OpenAI({ baseURL: `${gatewayUrl}/v1`, apiKey: 'none', maxRetries: 0 });
    const stream = await client.chat.completions.create({
      model: 'hindcast',
      messages: [{ role: 'user', content: 'What is a planet?' }],
      stream: true,
      stream_options: { include_usage: true },
      max_tokens: LONG_TOKENS,
      ...{ ignore_eos: true },
    });
    const chunks = stream[Symbol.asyncIterator]();
    await chunks.next();
    const read = async (): Promise<{ finishReason: string | null; tokens: number | undefined }> => {
      let [finishReason, tokens]: [string | null, number | undefined] = [null, undefined];
      for (let next = await chunks.next(); !next.done; next = await chunks.next()) {
        finishReason = next.value.choices[0]?.finish_reason ?? finishReason;
        tokens = next.value.usage?.completion_tokens ?? tokens;
      }
      return { finishReason, tokens };
    };
    return new LongStream(read());
  }

  end(): Promise<{ finishReason: string | null; tokens: number | undefined }> {
    return this.rest;
  }
}
