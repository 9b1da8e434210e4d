import { randomBytes } from 'node:crypto';
import { Buckets, type RunningService } from '@hindcast/platform';
import { startNatsServer } from '../../../libs/platform/src/testing/nats-server';
import { query, startPostgres, type TestPostgres } from './testing/postgres';
import { eventually, send, startTestDispatcher, storeCapture } from './testing/service';
import { unhintedTurn } from './testing/turns';

let postgres: TestPostgres;
const others: RunningService[] = [];

beforeAll(async () => {
  postgres = await startPostgres();
});
afterEach(async () => {
  await Promise.all(others.splice(0).map((other) => other.close()));
});
afterAll(() => postgres.stop());

const newSession = (): string => randomBytes(8).toString('hex');

test('binary RL keeps exactly one turn without a score of a session, also when two dispatchers decide at once', async () => {
  const url = await postgres.createDatabase();
  const broker = await startNatsServer();
  const env = { NATS_URL: broker.url, DATABASE_URL: url, METHOD: 'binary-rl' };
  const two = await Promise.all([startTestDispatcher(env), startTestDispatcher(env)]);
  others.push(...two);
  const sessions = Array.from({ length: 5 }, newSession);
  const turns = sessions.flatMap((sessionId) => Array.from({ length: 6 }, () => sessionId));
  await Promise.all(
    turns.map(async (sessionId, index) => {
      const turnId = await storeCapture(two[0]!, `r-${index}`);
      const evalScore = 0;
      await send(two[0]!, 'turnUnhinted', turnId, unhintedTurn({ responseId: `r-${index}`, sessionId, evalScore }));
    }),
  );
  const decided = () =>
    query<{ case: string; reason: string; count: number }>(
      url,
      'SELECT "case", reason, count(*)::int FROM decisions GROUP BY 1, 2 ORDER BY 2',
    );
  await eventually(async () => (await decided()).reduce((sum, row) => sum + row.count, 0) === turns.length);
  expect(await decided()).toEqual([
    { case: 'rl', reason: 'at-least-one', count: sessions.length },
    { case: 'drop', reason: 'no-signal', count: turns.length - sessions.length },
  ]);
  expect(
    await query(url, `SELECT "sessionId" FROM turns WHERE decided = 'rl' GROUP BY 1 HAVING count(*) <> 1`),
  ).toEqual([]);
  await broker.stop();
});

test.each([
  { mode: 'override', quorum: '1', reward: -1, rewardSource: 'feedback' },
  { mode: 'join', quorum: '3', reward: 1, rewardSource: 'joined' },
  { mode: 'join', quorum: '4', reward: null, rewardSource: 'joined' },
])('FEEDBACK_REWARD=$mode: two votes against one person give $reward, EVAL_QUORUM=$quorum', async (row) => {
  const { mode, quorum, reward, rewardSource } = row;
  const url = await postgres.createDatabase();
  const broker = await startNatsServer();
  const settings = { FEEDBACK_REWARD: mode, EVAL_QUORUM: quorum };
  const one = await startTestDispatcher({ NATS_URL: broker.url, DATABASE_URL: url, ...settings });
  others.push(one);
  const turnId = await storeCapture(one, 'r-1');
  const bucket = await one.app.get(Buckets).open('feedback');
  await bucket.put(turnId, JSON.stringify({ reward: -1, comment: null, correction: null, at: 1 }));
  const [vote] = unhintedTurn().evalVotes;
  // The judge had counted the person already: not twice.
  const judged = unhintedTurn({ evalScore: 1, evalVotes: [vote!, vote!], rewardSource: 'joined' });
  await send(one, 'turnUnhinted', turnId, judged);
  const read = () => query(url, 'SELECT reward, "rewardSource" FROM decisions');
  await eventually(async () => (await read()).length === 1);
  expect(await read()).toEqual([{ reward, rewardSource }]);
  await one.close();
  others.pop();
  await broker.stop();
});
