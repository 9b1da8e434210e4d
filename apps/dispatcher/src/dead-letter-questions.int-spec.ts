import { randomUUID } from 'node:crypto';
import { contracts, deadSubject, durableName, messageSchema } from '@hindcast/contracts';
import { Bus, type QueryOf, type RunningService } from '@hindcast/platform';
import { run } from './testing/command';
import { eventually, send, storeCapture, turnDetail } from './testing/service';
import { startTestLedger, type TestLedger } from './testing/test-ledger';
import { pairedTurn, unhintedTurn } from './testing/turns';

let ledger: TestLedger;
let service: RunningService;

beforeAll(async () => {
  ledger = await startTestLedger();
  service = ledger.service;
}, 60_000);
afterAll(() => ledger.stop());

const ask: TestLedger['ask'] = (name, body) => ledger.ask(name, body);
const count = async (tenant: string | null = null): Promise<number> => (await ask('overview', { tenant })).deadLetters;

async function bury(turnId: string, body: unknown, tenant = 'acme', code = 'handler-failed'): Promise<void> {
  const { subject } = contracts.turnUnhinted;
  const at = Date.now();
  const letter = {
    subject,
    consumer: durableName('dispatcher', subject),
    code,
    error: 'it failed',
    deliveries: 3,
    messageId: `judged.${turnId}`,
    payload: Buffer.from(JSON.stringify({ v: 1, turnId, tenant, at, body })).toString('base64'),
  };
  const envelope = messageSchema('dead').parse({ v: 1, turnId, tenant, at, body: letter });
  await service.app.get(Bus).store(deadSubject(subject), randomUUID(), JSON.stringify(envelope));
  await eventually(async () => (await list({ tenant })).some((row) => row.turnId === turnId));
}
const list = async (filter: Partial<QueryOf<'deadLetters'>> = {}) =>
  (await ask('deadLetters', { tenant: null, code: null, subject: null, before: null, limit: 50, ...filter })).letters;

it('dead letters are listed, shown, replayed and discarded, each within its tenant', async () => {
  const responseId = `r-${randomUUID()}`;
  const turnId = await storeCapture(service, responseId);
  await send(service, 'turnPaired', turnId, pairedTurn({ responseId }));
  await bury(turnId, unhintedTurn({ responseId }));
  const broken = randomUUID();
  await bury(broken, { evalScore: null }, 'globex', 'contract-violation');
  expect((await list()).map((row) => row.turnId)).toEqual([broken, turnId]);
  expect((await list({ tenant: 'acme' })).map((row) => row.turnId)).toEqual([turnId]);
  expect((await list({ code: 'contract-violation' })).map((row) => row.turnId)).toEqual([broken]);
  expect(await list({ subject: 'judged.unhinted' })).toHaveLength(2);
  expect(await list({ subject: 'unhinte_' })).toEqual([]);
  const first = await ask('deadLetters', { tenant: null, code: null, subject: null, before: null, limit: 1 });
  expect((await list({ before: first.next })).map((row) => row.turnId)).toEqual([turnId]);
  expect(await count()).toBe(2);
  expect(await count('acme')).toBe(1);

  const { sequence, at } = (await list({ tenant: 'acme' }))[0]!;
  const name = { sequence, at, tenant: 'acme' };
  for (const wrong of [
    { ...name, tenant: 'globex' },
    { ...name, at: at - 1 },
    { ...name, sequence: sequence + 9 },
  ]) {
    expect(await ask('deadLetter', wrong)).toEqual({ found: false });
    expect((await ask('discardDeadLetter', wrong)).outcome).toBe('gone');
    expect((await ask('replayDeadLetter', { ...wrong, force: true })).outcome).toBe('gone');
  }
  expect(await ask('deadLetter', name)).toMatchObject({
    found: true,
    letter: { turnId, code: 'handler-failed', deliveries: 3 },
    message: expect.stringContaining('\n  "turnId"') as string,
  });
  expect((await turnDetail(service, turnId))?.turn).toMatchObject({
    case: 'drop',
    reason: 'dead-letter:handler-failed',
  });
  expect((await ask('replayDeadLetter', { ...name, force: false })).outcome).toBe('replayed');
  await eventually(async () => (await turnDetail(service, turnId))?.turn.case === 'rl');
  expect((await ask('replayDeadLetter', { ...name, force: false })).outcome).toBe('gone');

  const letter = (await list({ tenant: 'globex' }))[0]!;
  const other = { sequence: letter.sequence, at: letter.at, tenant: null };
  expect(await ask('replayDeadLetter', { ...other, force: false })).toMatchObject({
    outcome: 'refused',
    message: expect.stringContaining('buried again') as string,
  });
  const twice = await Promise.all([ask('discardDeadLetter', other), ask('discardDeadLetter', other)]);
  expect(twice.map(({ outcome }) => outcome)).toEqual(['discarded', 'discarded']);
  expect(await list()).toEqual([]);
  expect(await count()).toBe(0);
});

it('dead letters that a command replayed are not listed any more', async () => {
  const responseId = `r-${randomUUID()}`;
  const turnId = await storeCapture(service, responseId);
  await bury(turnId, unhintedTurn({ responseId }));
  const { sequence } = (await list())[0]!;
  const { env } = ledger;
  expect(await run(['deadletters', 'replay', String(sequence), '--yes'], env)).toMatchObject({ code: 0 });
  expect(await list()).toEqual([]);
});
