import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { Client } from 'pg';
import { freePort, startNatsServer } from '../../../../libs/platform/src/testing/nats-server';
import { until } from '../../../../libs/platform/src/testing/until';
import { readConfig } from '../config';
import { startDispatcher } from '../service';
import { run } from '../testing/command';
import { query, startPostgres, type TestPostgres } from '../testing/postgres';

let postgres: TestPostgres;
beforeAll(async () => {
  postgres = await startPostgres();
});
afterAll(() => postgres.stop());

const tables = async (url: string): Promise<number> =>
  (await query(url, `SELECT 1 FROM pg_tables WHERE schemaname = 'public'`)).length;

it('two at once migrate once, a third finds nothing to do, and a dispatcher starts on what they made', async () => {
  const url = await postgres.createDatabase();
  const results = await Promise.all([0, 1].map(() => run(['migrate'], { DATABASE_URL: url })));
  expect(results.map(({ code }) => code)).toEqual([0, 0]);
  expect(results.map(({ printed }) => printed).sort()).toEqual([
    expect.stringMatching(/^Applied 0001_ledger, .*\d{4}_\w+\.$/),
    'The tables are up to date.',
  ]);
  const made = await tables(url);
  expect(made).toBeGreaterThan(5);
  expect(await run(['migrate'], { DATABASE_URL: url })).toEqual({
    code: 0,
    printed: 'The tables are up to date.',
    said: '',
  });
  const nats = await startNatsServer();
  const dispatcher = await startDispatcher(
    readConfig({ DATABASE_URL: url, NATS_URL: nats.url, PORT: '0', LOG_LEVEL: 'silent' }),
    { announce: () => undefined },
  );
  // A check that a busy machine keeps waiting fails once.
  await until(async () => (await fetch(`http://127.0.0.1:${dispatcher.port}/readyz`)).status === 200);
  expect(await tables(url)).toBe(made);
  await dispatcher.close();
  await nats.stop();
});

it('waits for a database that comes up late', async () => {
  const url = await postgres.createDatabase();
  const port = await freePort();
  // A gate in front of the real server that opens after the first refusal.
  const gate = createServer((client) => {
    const onward = connect(Number(new URL(url).port), '127.0.0.1');
    client.pipe(onward).pipe(client);
    for (const socket of [client, onward]) socket.on('error', () => undefined);
  });
  const { code, printed, said } = await run(
    ['migrate'],
    { DATABASE_URL: url.replace(/:\d+\//, `:${port}/`) },
    null,
    () => void gate.listen(port, '127.0.0.1'),
  );
  expect({ code, said }).toEqual({ code: 0, said: expect.stringContaining('Waiting for the database: ') });
  expect(printed).toMatch(/^Applied/);
  gate.close();
  await once(gate, 'close');
});

it('says that the database does not answer, without its password, and that a migration failed', async () => {
  const port = await freePort();
  const away = await run(['migrate', '--wait', '0'], { DATABASE_URL: `postgresql://me:hush@127.0.0.1:${port}/x` });
  expect(away.code).toBe(1);
  expect(away.said).toMatch(/^the database of DATABASE_URL does not answer within 0 s: .*ECONNREFUSED/);
  expect(away.said).not.toContain('hush');
  const url = await postgres.createDatabase();
  await query(url, 'CREATE TABLE turns (id text)');
  const failed = await run(['migrate'], { DATABASE_URL: url });
  expect(failed.code).toBe(1);
  expect(failed.said).toMatch(/^the migrations failed: The database schema is not empty\. .*$/);
});

it('ends at once where waiting cannot help, and names the variable', async () => {
  const url = await postgres.createDatabase();
  const wrong = new URL(url);
  wrong.username = 'nobody';
  wrong.password = 'hush';
  const refused = await run(['migrate'], { DATABASE_URL: String(wrong) });
  expect(refused).toMatchObject({ code: 2, printed: '' });
  expect(refused.said).toMatch(/^DATABASE_URL: .*"nobody"/);
  expect(refused.said).not.toContain('hush');
  const missing = await run(['migrate'], { DATABASE_URL: url.replace(/\/[^/]*$/, '/nowhere') });
  expect(missing).toMatchObject({ code: 2, said: 'DATABASE_URL: database "nowhere" does not exist' });
  expect(await run(['replay'], { DATABASE_URL: String(wrong) })).toMatchObject({
    code: 2,
    said: expect.stringMatching(/^DATABASE_URL: .*"nobody"/) as string,
  });
});

it.each([
  ['a port that is none', 'postgresql://me:hush@127.0.0.1:port/x'],
  ['a password with a bare %', 'postgresql://me:hu%sh@127.0.0.1:5432/x'],
])('refuses %s without showing it', async (_, url) => {
  const { code, said } = await run(['migrate'], { DATABASE_URL: url });
  expect(code).toBe(2);
  expect(said).toMatch(/DATABASE_URL: cannot be read/);
  expect(said).not.toMatch(/hu%?sh/);
});

it('does not wait for ever for another client that migrates', async () => {
  const url = await postgres.createDatabase();
  const other = new Client({ connectionString: url });
  await other.connect();
  await other.query('SELECT pg_advisory_lock($1)', [0x48434d47]);
  const held = await run(['migrate', '--wait', '1'], { DATABASE_URL: url });
  expect(held).toMatchObject({ code: 1, said: expect.stringMatching(/^another client .* for 1 s/) as string });
  await other.end();
  expect((await run(['migrate'], { DATABASE_URL: url })).code).toBe(0);
});
