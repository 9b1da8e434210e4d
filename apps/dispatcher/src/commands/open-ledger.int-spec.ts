import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EmbeddedPostgres } from '../embedded-postgres';
import { run, runJson } from '../testing/command';
import { query } from '../testing/postgres';

let dataDir: string;
beforeAll(() => void (dataDir = mkdtempSync(join(tmpdir(), 'hindcast-commands-'))));
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

const isRunning = (): boolean => existsSync(join(dataDir, 'postgres', 'cluster', 'postmaster.pid'));
const replay = () => runJson<{ turns: number }>(['replay', '--data-dir', dataDir], {});

test('a ledger that nobody serves is started for the command and stopped after it; one that runs is joined and left running', async () => {
  expect(await run(['replay', '--data-dir', dataDir], {})).toMatchObject({
    code: 1,
    said: expect.stringContaining('there is no ledger in'),
  });
  expect(existsSync(join(dataDir, 'postgres'))).toBe(false);

  const dispatchers = new EmbeddedPostgres(dataDir, () => undefined);
  const url = await dispatchers.open();
  expect(await replay()).toMatchObject({ turns: 0 });
  expect(await query(url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  await dispatchers.leave();
  expect(isRunning()).toBe(false);

  expect(await replay()).toMatchObject({ turns: 0 });
  expect(isRunning()).toBe(false);
});

test('what npm start wrote down for its services is used, and the environment wins', async () => {
  mkdirSync(join(dataDir, 'env'));
  writeFileSync(join(dataDir, 'env', 'dispatcher.env'), 'NATS_URL="nats://127.0.0.1:2"\n');
  const said = async (env: Record<string, string>) => (await run(['deadletters', '--data-dir', dataDir], env)).said;
  expect(await said({})).toContain('nats://127.0.0.1:2 does not answer');
  expect(await said({ NATS_URL: 'nats://me:secret@127.0.0.1:3' })).toContain('nats://***@127.0.0.1:3 does not answer');
  expect((await run(['deadletters', '--data-dir', dataDir], { NATS_URL: 'http://' })).code).toBe(2);
});
