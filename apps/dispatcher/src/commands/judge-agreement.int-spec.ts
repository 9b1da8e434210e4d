import { connect } from '@nats-io/transport-node';
import { Kvm } from '@nats-io/kv';
import type { Score } from '@hindcast/contracts';
import { startNatsServer, type NatsServer } from '../../../../libs/platform/src/testing/nats-server';
import type { Database } from '../database';
import { run, runJson } from '../testing/command';
import { circumstances, openDatabase, storeDecided, turnIdOf } from '../testing/ledger-rows';
import { startPostgres, type TestPostgres } from '../testing/postgres';
import { unhintedTurn } from '../testing/turns';
import type { AgreementSummary } from './core/judge-agreement';

let nats: NatsServer;
let postgres: TestPostgres;
let database: Database;
let env: Record<string, string>;

const vote = {
  abstained: null,
  latencyMs: 1,
  promptTokens: 1,
  completionTokens: 1,
  cost: null,
  promptVersion: '1',
  raw: '',
};

/** A turn with eval votes, and what a person said at its decision or later. */
async function turn(
  index: number,
  votes: (Score | null)[],
  said: { human: Score; when: 'in time' | 'late' },
  judgeModel = 'first',
): Promise<void> {
  const turnId = turnIdOf(index);
  const evalVotes = votes.map((score) => ({
    ...vote,
    score,
    ...(score === null && { abstained: 'timeout' as const }),
  }));
  const judged = unhintedTurn({ responseId: `r-${index}`, evalVotes, judgeModel });
  const feedback = { reward: said.human, comment: null, correction: null, at: 5 };
  const recording = {
    turnId,
    judged,
    circumstances,
    capture: null,
    feedback: said.when === 'in time' ? feedback : null,
  };
  await database.run((prisma) => storeDecided(prisma, recording, { tenant: index < 100 ? 'acme' : 'other' }));
  if (said.when === 'in time') return;
  const connection = await connect({ servers: nats.url });
  const bucket = await new Kvm(connection).create('feedback', { history: 1 });
  await bucket.put(`late.${turnId}`, JSON.stringify(feedback));
  await connection.close();
}

beforeAll(async () => {
  [nats, postgres] = await Promise.all([startNatsServer(), startPostgres()]);
  env = { NATS_URL: nats.url, DATABASE_URL: await postgres.createDatabase() };
  database = await openDatabase(env['DATABASE_URL']!);
  await turn(1, [1, 1, -1], { human: 1, when: 'in time' });
  await turn(2, [-1, -1, 1], { human: 1, when: 'late' });
  await turn(3, [null, null, null], { human: 1, when: 'late' });
  await turn(4, [], { human: -1, when: 'in time' });
  await turn(5, [-1, -1, -1], { human: -1, when: 'late' }, 'second');
  await turn(101, [1, 1, 1], { human: 1, when: 'late' });
}, 60_000);
afterAll(async () => {
  await database.onApplicationShutdown();
  await Promise.all([nats.stop(), postgres.stop()]);
});

test('majorities are compared with what people said, in time or late, by judge', async () => {
  const summary = await runJson<AgreementSummary>(['judge:agreement', '--tenant', 'acme'], env);
  expect(summary).toMatchObject({
    notAsked: 1,
    all: {
      n: 3,
      decided: 3,
      abstained: 1,
      isEnough: false,
      confusion: [
        [1, 0, 0],
        [0, 0, 0],
        [1, 0, 1],
      ],
    },
    judges: [
      { judgeModel: 'first', promptVersion: '1', n: 2, accuracy: 0.5, abstained: 1 },
      { judgeModel: 'second', promptVersion: '1', n: 1, accuracy: 1, abstained: 0 },
    ],
  });
  // (2 of 3 agree, 4/9 by chance)
  expect(summary.all.kappa).toBeCloseTo((2 / 3 - 4 / 9) / (1 - 4 / 9), 12);
});

test('a person is told how few they are, and what is missing while the broker is away', async () => {
  const { printed } = await run(['judge:agreement'], env);
  expect(printed).toMatch(/^first +1 +3/m);
  expect(printed).toContain('Too few to say: 4 turns');
  const away = await run(['judge:agreement'], { ...env, NATS_URL: 'nats://127.0.0.1:1' });
  expect(away).toMatchObject({
    code: 0,
    said: expect.stringContaining('Only feedback that was there at the decision'),
  });
  expect(await run(['judge:agreement', '--until', '2d'], env)).toMatchObject({
    code: 0,
    printed: expect.stringContaining('Too few'),
  });
});
