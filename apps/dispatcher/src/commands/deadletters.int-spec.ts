import { randomUUID } from 'node:crypto';
import { Bus, type RunningService } from '@hindcast/platform';
import {
  contracts,
  deadSubject,
  durableName,
  messageSchema,
  type LedgerStatus,
  type TurnStory,
} from '@hindcast/contracts';
import { startNatsServer, type NatsServer } from '../../../../libs/platform/src/testing/nats-server';
import { startPostgres, type TestPostgres } from '../testing/postgres';
import { eventually, published, send, startTestDispatcher, storeCapture } from '../testing/service';
import { capturedTurn, pairedTurn, scoredTurn } from '../testing/turns';
import { run, runJson } from '../testing/command';

let nats: NatsServer;
let postgres: TestPostgres;
let service: RunningService;
let env: Record<string, string>;

beforeAll(async () => {
  [nats, postgres] = await Promise.all([startNatsServer(), startPostgres()]);
  env = { NATS_URL: nats.url, DATABASE_URL: await postgres.createDatabase() };
  service = await startTestDispatcher(env);
});
afterAll(async () => {
  await service.close();
  await Promise.all([nats.stop(), postgres.stop()]);
});

interface Listed {
  readonly id: number;
  readonly code: string;
  readonly subject: string;
  readonly turnId: string | null;
}
const list = async (...filter: string[]): Promise<readonly Listed[]> =>
  (await runJson<{ letters: Listed[] }>(['deadletters', 'list', ...filter], env)).letters;
const letterOf = async (turnId: string): Promise<Listed> => (await list('--turn', turnId))[0]!;

async function story(id: string): Promise<TurnStory | null> {
  const answer = await service.app.get(Bus).request('turn', { tenant: 'acme', id });
  return answer.found ? answer.turn : null;
}
const status = (): Promise<LedgerStatus> => service.app.get(Bus).request('status', { tenant: null });
const isRecorded = (turnId: string) => async (): Promise<boolean> => (await story(turnId))?.case === 'drop';

/** A paired turn whose message to `app` failed for good, as the delivery strategy writes it. */
async function bury(
  name: 'turnScored' | 'sampleReady',
  app: 'dispatcher' | 'trainer',
  turnId: string,
  body: unknown,
  code = 'max-deliveries',
): Promise<void> {
  const { subject, stage } = contracts[name];
  const message = { v: 1, turnId, tenant: 'acme', at: Date.now(), body };
  const letter = {
    subject,
    consumer: durableName(app, subject),
    code,
    error: 'what went wrong',
    deliveries: 11,
    messageId: `${stage}.${turnId}`,
    payload: Buffer.from(JSON.stringify(message)).toString('base64'),
  };
  // Of a message that breaks its contract nothing is taken over.
  const owner = code === 'contract-violation' ? { turnId: null, tenant: 'unknown' } : { turnId, tenant: 'acme' };
  const envelope = messageSchema('dead').parse({ v: 1, ...owner, at: Date.now(), body: letter });
  await service.app.get(Bus).store(deadSubject(subject), randomUUID(), JSON.stringify(envelope));
}

async function pairedTurnOf(responseId: string): Promise<string> {
  const turnId = await storeCapture(service, responseId);
  await send(service, 'turnCaptured', turnId, capturedTurn({ responseId }));
  await send(service, 'turnPaired', turnId, pairedTurn({ responseId }));
  await eventually(async () => (await story(turnId))?.state === 'paired');
  return turnId;
}

test('a turn that a dead letter had dropped is decided by the replayed message, and the books balance all the time', async () => {
  const turnId = await pairedTurnOf('r-1');
  await bury('turnScored', 'dispatcher', turnId, scoredTurn({ responseId: 'r-1' }));
  await eventually(isRecorded(turnId));
  expect(await story(turnId)).toMatchObject({ case: 'drop', reason: 'dead-letter:max-deliveries' });

  const { id } = await letterOf(turnId);
  const result = await runJson<{ replayed: unknown[] }>(['deadletters', 'replay', String(id), '--yes'], env);
  expect(result).toEqual({
    replayed: [{ id, subject: contracts.turnScored.subject, turnId, reopened: true }],
    failed: [],
  });
  await eventually(async () => (await story(turnId))?.case === 'opdRl');
  await eventually(async () => (await published(nats.url, 'sampleReady')).some((sample) => sample.turnId === turnId));
  expect(await list('--turn', turnId)).toEqual([]);
  const { turns, cases } = await status();
  expect(cases.opdRl + cases.opd + cases.rl + cases.drop + cases.deciding).toBe(turns.paired);
});

test('a sample that the trainer gave up waits for training again', async () => {
  const turnId = await pairedTurnOf('r-2');
  await send(service, 'turnScored', turnId, scoredTurn({ responseId: 'r-2' }));
  await eventually(async () => (await published(nats.url, 'sampleReady')).some((sample) => sample.turnId === turnId));
  const sample = (await published(nats.url, 'sampleReady')).find((message) => message.turnId === turnId)!;
  const waiting = (await status()).waitingSamples;
  await bury('sampleReady', 'trainer', turnId, sample.body);
  await eventually(isRecorded(turnId));
  expect((await status()).waitingSamples).toBe(waiting - 1);

  await runJson(['deadletters', 'replay', String((await letterOf(turnId)).id), '--yes'], env);
  expect(await story(turnId)).toMatchObject({ case: 'opdRl', reason: null });
  expect((await status()).waitingSamples).toBe(waiting);
  const again = (await published(nats.url, 'sampleReady')).filter((message) => message.turnId === turnId);
  expect(again).toHaveLength(2);
});

test('a turn that another message decided meanwhile keeps its decision', async () => {
  const turnId = await pairedTurnOf('r-3');
  await send(service, 'turnScored', turnId, scoredTurn({ responseId: 'r-3', evalScore: -1 }));
  await eventually(async () => (await story(turnId))?.case === 'opdRl');
  await bury('turnScored', 'dispatcher', turnId, scoredTurn({ responseId: 'r-3', evalScore: 1 }));
  await eventually(async () => (await list('--turn', turnId)).length === 1);
  const { replayed } = await runJson<{ replayed: { reopened: boolean }[] }>(
    ['deadletters', 'replay', String((await letterOf(turnId)).id), '--yes'],
    env,
  );
  expect(replayed[0]!.reopened).toBe(false);
  expect(await story(turnId)).toMatchObject({ case: 'opdRl', evalScore: -1 });
});

test('what still breaks its contract stays, unless it is forced; the others of --all go', async () => {
  const [broken, whole] = [await pairedTurnOf('r-4'), await pairedTurnOf('r-5')];
  await bury('turnScored', 'dispatcher', broken, { not: 'a scored turn' }, 'contract-violation');
  await bury('turnScored', 'dispatcher', whole, scoredTurn({ responseId: 'r-5' }));
  await Promise.all([eventually(isRecorded(broken)), eventually(isRecorded(whole))]);
  const result = await run(['deadletters', 'replay', '--all', '--subject', 'turn.scored', '--yes', '--json'], env);
  expect(result.code).toBe(1);
  expect(result.said).toContain('would be buried again');
  expect(JSON.parse(result.printed)).toMatchObject({ replayed: [{ turnId: whole }] });
  expect(await list()).toMatchObject([{ turnId: broken, code: 'contract-violation' }]);
  expect(await story(broken)).toMatchObject({ case: 'drop', reason: 'dead-letter:contract-violation' });
  await eventually(async () => (await story(whole))?.case === 'opdRl');

  const shown = await run(['deadletters', 'show', String((await letterOf(broken)).id)], env);
  expect(shown.printed).toContain('"not": "a scored turn"');
  expect(shown.printed).toMatch(/deliveries +11/);
  expect((await run(['deadletters', 'discard', '--all', '--code', 'max-deliveries', '--yes'], env)).printed).toBe(
    '0 discarded.',
  );
  expect((await run(['deadletters', 'discard', '--all', '--code', 'contract-violation', '--yes'], env)).code).toBe(0);
  expect(await list()).toEqual([]);
});

test('without a yes nothing happens, and what is missing is said in words', async () => {
  const turnId = await pairedTurnOf('r-6');
  await bury('turnScored', 'dispatcher', turnId, scoredTurn({ responseId: 'r-6' }));
  await eventually(isRecorded(turnId));
  const { id } = await letterOf(turnId);
  expect(await run(['deadletters', 'replay', String(id)], env, false)).toMatchObject({ code: 1, printed: '' });
  expect(await list('--turn', turnId)).toHaveLength(1);
  expect(await run(['deadletters', 'show', '99999'], env)).toMatchObject({
    code: 1,
    said: 'there is no dead letter 99999',
  });
  expect((await run(['deadletters', 'replay'], env)).code).toBe(2);
  expect((await run(['deadletters', 'show', 'x'], env)).said).toContain('a whole number from 1 on');
  const away = await run(['deadletters'], { ...env, NATS_URL: 'nats://127.0.0.1:1' });
  expect(away).toMatchObject({ code: 1, said: expect.stringContaining('nats://127.0.0.1:1 does not answer') });
  const closed = await startNatsServer({ more: () => 'authorization { user: hindcast, password: hush }' });
  const refused = await run(['deadletters'], { ...env, NATS_URL: closed.url });
  expect(refused).toMatchObject({ code: 1, said: expect.stringContaining('set NATS_USER and NATS_PASSWORD') });
  const known = { ...env, NATS_URL: closed.url, NATS_USER: 'hindcast', NATS_PASSWORD: 'hush' };
  expect(await run(['deadletters'], known)).toMatchObject({ said: expect.not.stringContaining(closed.url) });
  await closed.stop();
});

test('what the dispatcher records gives its own decisions again', async () => {
  const { turns, unlikeLedger } = await runJson<{ turns: number; unlikeLedger: number }>(['replay'], env);
  expect(turns).toBeGreaterThan(2);
  expect(unlikeLedger).toBe(0);
});
