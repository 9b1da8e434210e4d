import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { contracts, messageSchema, type BodyOf, type MessageOf } from '@hindcast/contracts';
import { Buckets, parseConfig, startService, type RunningService } from '@hindcast/platform';
import { startNatsServer, type NatsServer } from '../../../libs/platform/src/testing/nats-server';
import { until } from '../../../libs/platform/src/testing/until';
import { AppModule } from './app.module';
import { JudgeConfig } from './config';
import { refuse, reply, startFakeJudge, type SeenCall } from './testing/fake-judge';

let nats: NatsServer;
let connection: NatsConnection;
let service: RunningService | undefined;
let judge: Awaited<ReturnType<typeof startFakeJudge>>;

beforeAll(async () => {
  nats = await startNatsServer();
  connection = await connect({ servers: nats.url });
});
afterAll(async () => {
  await connection.close();
  await nats.stop();
});
afterEach(async () => {
  await service?.close();
  await judge.stop();
});

const turn = (over: Partial<BodyOf<'turnPaired'>> = {}): BodyOf<'turnPaired'> => ({
  responseId: 'r1',
  sessionId: null,
  policyVersion: 2,
  conversation: [{ role: 'user', text: 'How far is the moon?', toolName: null }],
  answer: '**384,400 km**',
  nextState: [{ role: 'user', text: 'Please do not use bold.', toolName: null }],
  truncated: false,
  ...over,
});

async function start(
  script: (call: SeenCall, n: number, response: ServerResponse) => void,
  env: Record<string, string> = {},
): Promise<void> {
  judge = await startFakeJudge(script);
  const config = parseConfig('judge-svc', JudgeConfig, {
    PORT: '0',
    NATS_URL: nats.url,
    LOG_LEVEL: 'silent',
    JUDGE_BASE_URL: judge.baseUrl,
    JUDGE_MODEL: 'j',
    JUDGE_API_KEY: 'judge-key',
    ...env,
  });
  service = await startService({ app: 'judge-svc', config, module: AppModule, announce: () => undefined });
}

/** Publishes a paired turn and waits for its judgement. */
async function judged(
  body: BodyOf<'turnPaired'>,
  turnId: string = randomUUID(),
): Promise<MessageOf<'turnHinted'> | MessageOf<'turnUnhinted'>> {
  const envelope = { v: 1, turnId, tenant: 'acme', at: Date.now(), body };
  await jetstream(connection).publish(contracts.turnPaired.subject, JSON.stringify(envelope));
  const manager = await jetstreamManager(connection);
  let found: MessageOf<'turnHinted'> | MessageOf<'turnUnhinted'> | undefined;
  await until(async () => {
    for (const name of ['turnHinted', 'turnUnhinted'] as const) {
      const last = await manager.streams.getMessage('RL', { last_by_subj: contracts[name].subject });
      const message = last?.json<{ turnId: string }>();
      if (message?.turnId === turnId) found = messageSchema(name).parse(message) as typeof found;
    }
    return found !== undefined;
  });
  return found!;
}

const asksForHint = (call: SeenCall): boolean => call.body.messages[0]!.content.includes('[HINT_START]');

it('asks for m scores and m hints at once and publishes the judgement with every vote', async () => {
  const waiting: (() => void)[] = [];
  await start((call, _n, response) => {
    waiting.push(() =>
      reply(
        response,
        asksForHint(call) ? '\\boxed{1}\n[HINT_START]write without bold type[HINT_END]' : 'It failed. \\boxed{-1}',
      ),
    );
    // Nothing is answered before all six calls are there: they are in flight together or this test never ends.
    if (waiting.length === 6) waiting.forEach((answer) => answer());
  });
  const message = await judged(turn());
  expect(message).toMatchObject({
    tenant: 'acme',
    body: { evalScore: -1, hint: 'write without bold type', rewardSource: 'votes', judgeModel: 'j', policyVersion: 2 },
  });
  expect(message.body.evalVotes.map((vote) => vote.score)).toEqual([-1, -1, -1]);
  expect(message.body.hintVotes.map((vote) => vote.promptTokens)).toEqual([9, 9, 9]);
  expect(judge.calls[0]!.headers.authorization).toBe('Bearer judge-key');
  expect(JSON.stringify(message)).not.toContain('judge-key');
});

it('tries again after 429 and 503, and gives up at once on a 400', async () => {
  let failures = 0;
  await start(
    (call, _n, response) => {
      if (asksForHint(call)) return refuse(response, 400);
      if (failures < 2) return refuse(response, failures++ === 0 ? 429 : 503);
      reply(response, '\\boxed{1}');
    },
    { EVAL_VOTES: '1', HINT_VOTES: '1' },
  );
  const { body } = await judged(turn());
  expect(body.evalVotes).toMatchObject([{ score: 1, abstained: null }]);
  expect(body.hintVotes).toMatchObject([{ score: null, abstained: 'error' }]);
  expect(judge.calls.filter(asksForHint)).toHaveLength(1);
});

it('D56: a judge that never answers costs the votes, not the turn', async () => {
  await start(() => undefined, { VOTE_TIMEOUT_MS: '200', EVAL_VOTES: '2', HINT_VOTES: '1' });
  const { body } = await judged(turn());
  expect(body).toMatchObject({ evalScore: 0, hint: null });
  expect(body.evalVotes.map((vote) => vote.abstained)).toEqual(['timeout', 'timeout']);
});

it('a judge that answers garbage abstains as unreadable or in error, and nothing crashes', async () => {
  await start((call, _n, response) => (asksForHint(call) ? response.end('<html>') : reply(response, 'no box at all')), {
    EVAL_VOTES: '1',
    HINT_VOTES: '1',
    VOTE_TIMEOUT_MS: '3000',
  });
  const { body } = await judged(turn());
  expect(body.evalVotes).toMatchObject([{ score: null, abstained: 'unreadable' }]);
  expect(body.hintVotes[0]!.score).toBeNull();
});

it('never has more calls in flight than JUDGE_CONCURRENCY', async () => {
  await start((_call, _n, response) => setTimeout(() => reply(response, '\\boxed{1}'), 5), { JUDGE_CONCURRENCY: '2' });
  await judged(turn());
  expect(judge.mostAtOnce()).toBeLessThanOrEqual(2);
});

it('feedback that is there decides the reward, and its correction is the hint, without a call', async () => {
  await start((_call, _n, response) => reply(response, '\\boxed{1}'));
  const turnId = randomUUID();
  const bucket = await service!.app.get(Buckets).open('feedback');
  await bucket.put(
    turnId,
    JSON.stringify({ reward: -1, comment: null, correction: 'use kilometres and no bold', at: 1 }),
  );
  const { body } = await judged(turn(), turnId);
  expect(body).toMatchObject({
    evalScore: -1,
    hint: 'use kilometres and no bold',
    rewardSource: 'feedback',
    evalVotes: [],
    hintVotes: [],
  });
  expect(judge.calls).toHaveLength(0);
});
