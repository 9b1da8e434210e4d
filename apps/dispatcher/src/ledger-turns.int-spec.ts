import { queries, type TurnRow } from '@hindcast/contracts';
import { turnTexts } from './core/turn-texts';
import type { Database } from './database';
import { LedgerTurns } from './ledger-turns';
import { openDatabase, turnIdOf } from './testing/ledger-rows';
import { query, startPostgres, type TestPostgres } from './testing/postgres';

let postgres: TestPostgres;
let url: string;
let database: Database;
let turns: LedgerTurns;

beforeAll(async () => {
  postgres = await startPostgres();
  url = await postgres.createDatabase();
  database = await openDatabase(url);
  turns = new LedgerTurns(database);
}, 60_000);
afterAll(async () => {
  await database.onApplicationShutdown();
  await postgres.stop();
});
beforeEach(() => query(url, 'TRUNCATE turn_texts, turn_counts; DELETE FROM turns; TRUNCATE turn_counts'));

type Filter = Omit<Partial<(typeof queries)['turns']['request']['_output']>, 'limit'> & { limit?: number };
const page = (filter: Filter = {}) => turns.page(queries.turns.request.parse({ tenant: null, ...filter }));
const numbers = (rows: readonly TurnRow[]): number[] => rows.map((row) => Number(row.turnId.slice(-6)));
const found = async (filter: Filter): Promise<number[]> => numbers((await page(filter)).turns);

/** A turn whose number is its age; columns as SQL. */
async function add(number: number, columns: Record<string, string | number | boolean | null> = {}): Promise<void> {
  const row = {
    id: turnIdOf(number),
    tenant: 'acme',
    revision: 1,
    captured: true,
    paired: false,
    ending: 'open',
    createdAt: new Date(1_790_000_000_000 + Math.floor(number / 2) * 1_000).toISOString(),
    judged: false,
    outcomePending: false,
    updatedAt: new Date(1_790_000_000_000).toISOString(),
    ...columns,
  };
  await query(url, `INSERT INTO turns SELECT * FROM json_populate_record(NULL::turns, '${JSON.stringify(row)}')`);
}

async function say(number: number, request: string, answer: string, next: string): Promise<void> {
  const message = (text: string) => ({ role: 'user' as const, text, toolName: null });
  const texts = turnTexts({ conversation: [message('hello'), message(request)], answer, nextState: [message(next)] });
  await query(
    url,
    `INSERT INTO turn_texts ("turnId", texts, request, answer, words)
      VALUES ('${turnIdOf(number)}', '${texts.texts}', '${texts.request}', '${texts.answer}', to_tsvector('simple', '${texts.searched}'))`,
  );
}

const paired = (more: Record<string, string | number | boolean | null> = {}) => ({
  paired: true,
  ending: 'paired',
  ...more,
});
const decided = (gateCase: string, reason: string | null = null) =>
  paired({ decided: gateCase, decidedReason: reason, case: gateCase, reason });

it('an empty ledger has an empty list', async () => {
  expect(await page()).toEqual({ turns: [], next: null });
  expect(await page({ text: 'anything', state: 'open' })).toEqual({ turns: [], next: null });
});

it('pages have neither gaps nor repeats, also while turns come in and others move on', async () => {
  for (let number = 1; number <= 12; number++) await add(number, { tenant: number % 3 === 0 ? 'globex' : 'acme' });
  const seen: number[] = [];
  let before: string | null = null;
  do {
    const { turns: rows, next } = await page({ before, limit: 5 });
    seen.push(...numbers(rows));
    before = next;
    await add(100 + seen.length);
    await query(url, `UPDATE turns SET paired = true, ending = 'paired' WHERE id = '${turnIdOf(2)}'`);
  } while (before !== null);
  expect(seen).toEqual([12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1]);
});

it('every filter, alone and together', async () => {
  await add(1);
  await add(2, paired());
  await add(3, paired({ judged: true }));
  await add(4, decided('opd'));
  await add(5, { ...decided('drop', 'teacher:too-long'), sessionId: 'ab'.repeat(16), policyVersion: 7 });
  await add(6, { ...decided('rl'), trainedIn: 3, policyVersion: 7, sessionId: 'ab'.repeat(16) });
  await add(7, { closed: 'expired', ending: 'expired', reason: 'expired', tenant: 'globex', policyVersion: 7 });
  await add(8, { ...decided('drop', 'stale'), tenant: 'globex' });
  await add(9, { untrainable: 'truncated', ending: 'untrainable', reason: 'truncated' });
  const states = ['open', 'paired', 'judged', 'decided', 'trained', 'closed'] as const;
  const byState = await Promise.all(states.map((state) => found({ state })));
  expect(byState).toEqual([[1], [2], [3], [8, 5, 4], [6], [9, 7]]);
  const rows = (await page()).turns;
  expect(rows.map(({ state }) => state)).toEqual([
    'closed',
    'decided',
    'closed',
    'trained',
    'decided',
    'decided',
    'judged',
    'paired',
    'open',
  ]);
  expect(await found({ case: 'drop' })).toEqual([8, 5]);
  expect(await found({ reason: 'stale' })).toEqual([8]);
  expect(await found({ reason: 't*' })).toEqual([9, 5]);
  expect(await found({ reason: 'teacher:*', case: 'drop', state: 'decided' })).toEqual([5]);
  expect(await found({ reason: '%' })).toEqual([]);
  expect(await found({ reason: '*' })).toEqual([9, 8, 7, 5]);
  expect(await found({ sessionId: 'ab'.repeat(16) })).toEqual([6, 5]);
  expect(await found({ sessionId: 'ab'.repeat(16), state: 'trained' })).toEqual([6]);
  expect(await found({ policyVersion: 7 })).toEqual([7, 6, 5]);
  expect(await found({ policyVersion: 7, case: 'rl' })).toEqual([6]);
  expect(await found({ policyVersion: 7, tenant: 'globex', state: 'closed' })).toEqual([7]);
});

it('a tenant sees its own turns and nobody else’s, whatever it asks for', async () => {
  await add(1, {
    tenant: 'globex',
    sessionId: 'cd'.repeat(16),
    policyVersion: 1,
    reason: 'truncated',
    ending: 'untrainable',
  });
  await say(1, 'secret plans', 'never', 'so');
  await add(2);
  const questions: Filter[] = [
    {},
    { state: 'closed' },
    { reason: '*' },
    { sessionId: 'cd'.repeat(16) },
    { policyVersion: 1 },
    { policyVersion: 1, state: 'closed' },
    { text: 'secret' },
    { text: 'secret', state: 'closed' },
  ];
  for (const question of questions) {
    expect(await found({ ...question, tenant: null })).toContain(1);
    expect(await found({ ...question, tenant: 'globex' })).toEqual([1]);
    expect(await found({ ...question, tenant: 'acme' })).not.toContain(1);
    expect(await found({ ...question, tenant: 'nobody' })).toEqual([]);
  }
});

it('finds words of request, answer and next state, all of them in any order', async () => {
  for (const number of [1, 2, 3]) await add(number, decided('opd'));
  await say(1, 'Name a PLANET', 'Mars is one.', 'thanks');
  await say(2, 'name a star', 'Vega', 'thanks, no planet');
  await say(3, 'what else', 'nothing', '');
  expect(await found({ text: 'planet' })).toEqual([2, 1]);
  expect(await found({ text: 'mars planet name' })).toEqual([1]);
  expect(await found({ text: 'hello' })).toEqual([]);
  expect(await found({ text: "it's | (a) & trap:*" })).toEqual([]);
  expect(await found({ text: '!!!' })).toEqual([]);
  expect(await found({ text: 'planet', case: 'rl' })).toEqual([]);
  const { turns: rows } = await page({ text: 'vega' });
  expect(rows).toMatchObject([{ request: 'name a star', answer: 'Vega' }]);
  const first = await page({ text: 'planet', limit: 1 });
  expect(numbers(first.turns)).toEqual([2]);
  expect(await found({ text: 'planet', limit: 1, before: first.next })).toEqual([1]);
});

it('finds what is further down than it looks through at once, whether many or few have it', async () => {
  await query(
    url,
    `INSERT INTO turns (id, tenant, revision, captured, paired, ending, "createdAt")
      SELECT '00000000-0000-4000-8000-' || lpad(i::text, 12, '0'), 'acme', 1, true, false, 'open', to_timestamp(1790000000 + i)
      FROM generate_series(1, 26500) i`,
  );
  await query(
    url,
    `INSERT INTO turn_texts ("turnId", texts, request, answer, words)
      SELECT id, '{}', '', '', to_tsvector('simple', CASE WHEN i <= 21500 THEN 'old' ELSE 'new' END || CASE WHEN i = 77 THEN ' rare' ELSE '' END)
      FROM (SELECT id, right(id, 12)::int AS i FROM turns) t`,
  );
  expect(await found({ text: 'rare' })).toEqual([77]);
  const { turns: rows, next } = await page({ text: 'old', limit: 3 });
  expect(numbers(rows)).toEqual([21500, 21499, 21498]);
  expect(await found({ text: 'old', limit: 2, before: next })).toEqual([21497, 21496]);
  expect((await page({ text: 'old rare', limit: 2 })).turns).toHaveLength(1);
});

it('a cursor that is none makes the question invalid', async () => {
  await expect(page({ before: 'bm9uZQ' })).rejects.toMatchObject({ code: 'invalid-request' });
});
