import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { chmod, mkdtemp, mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { EmbeddedPostgres } from './embedded-postgres';
import { query } from './testing/postgres';

let dataDir: string;
const servers: EmbeddedPostgres[] = [];
const member = (folder = dataDir, onMoved?: (url: string) => void): EmbeddedPostgres => {
  const server = new EmbeddedPostgres(folder, () => undefined, onMoved);
  servers.push(server);
  return server;
};
const pidFile = (folder = dataDir): string => path.join(folder, 'postgres', 'cluster', 'postmaster.pid');
const serverPid = (folder = dataDir): number => Number(readFileSync(pidFile(folder), 'utf8').split('\n')[0]);
const answers = async (url: string): Promise<boolean> =>
  query(url, 'SELECT 1').then(
    () => true,
    () => false,
  );
/** Clients of the server besides the one that asks, and the one that this process holds open. */
const clients = async (url: string): Promise<number> => {
  const others = await query<{ count: number }>(
    url,
    `SELECT count(*)::int FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()`,
  );
  return others[0]!.count - 1;
};
async function eventually(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition())) await sleep(50);
}

beforeEach(async () => {
  dataDir = await mkdtemp(path.join(os.tmpdir(), 'hindcast-embedded-'));
});
afterEach(async () => {
  for (const server of servers.splice(0)) await server.leave();
  await rm(dataDir, { recursive: true, force: true });
});

test('two that start at once share one server, and the last to leave stops it', async () => {
  const [first, second] = [member(), member()];
  const [url, otherUrl] = await Promise.all([first.open(), second.open()]);
  expect(otherUrl).toBe(url);
  expect(await readdir(dataDir)).toEqual(['postgres']);
  expect(await first.leave()).toBe('left');
  expect(await answers(url)).toBe(true);
  expect(await second.leave()).toBe('stopped');
  expect(await answers(url)).toBe(false);
});

test('a dispatcher that is killed leaves the server running; the next one joins it, keeps its data and stops it in the end', async () => {
  const holder = spawn(process.execPath, [path.join(__dirname, 'testing', 'hold-server.cjs'), dataDir], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = (await once(holder.stdout, 'data')) as [Buffer];
  const url = line.toString().trim();
  await query(url, 'CREATE TABLE kept AS SELECT 42 AS answer');
  const pid = serverPid();
  holder.kill('SIGKILL');
  await once(holder, 'exit');

  const next = member();
  expect(await next.open()).toBe(url);
  expect(serverPid()).toBe(pid);
  expect(await query(url, 'SELECT answer FROM kept')).toEqual([{ answer: 42 }]);
  // The killed one's connection is noticed by the server at its own pace.
  await eventually(async () => (await clients(url)) === 0);
  expect(await next.leave()).toBe('stopped');
});

test('a server that dies under its dispatchers is started again, on the same port', async () => {
  const [first, second] = [member(), member()];
  const url = await first.open();
  await second.open();
  const pid = serverPid();
  process.kill(pid, 'SIGKILL');
  await eventually(() => answers(url));
  expect(serverPid()).not.toBe(pid);
});

test('a stale pid file that now names some other process is no obstacle, nor is a port that others took', async () => {
  const before = member();
  const url = await before.open();
  const stale = readFileSync(pidFile(), 'utf8').split('\n');
  await before.leave();
  stale[0] = String(process.pid);
  await writeFile(pidFile(), stale.join('\n'));
  const squatter = createServer((socket) => socket.destroy());
  squatter.listen(Number(new URL(url).port), '127.0.0.1');
  await once(squatter, 'listening');
  const moved = await member().open();
  expect(moved).not.toBe(url);
  expect(await answers(moved)).toBe(true);
  squatter.close();
});

test('a data folder that only its owner can reach', async () => {
  const closed = path.join(dataDir, 'closed');
  await mkdir(path.join(closed, 'data'), { recursive: true });
  await chmod(closed, 0o700);
  const url = await member(path.join(closed, 'data')).open();
  await query(url, 'CREATE TABLE reached (a int); ');
  await query(url, 'CHECKPOINT');
  expect(await answers(url)).toBe(true);
});

test('nobody gets in without the password', async () => {
  const url = await member().open();
  expect(await answers(url.replace(/:[^:@]+@/, ':guess@'))).toBe(false);
});

test('a damaged connection.json is named, left as it is, and taken up again once it is put back', async () => {
  const first = member();
  const url = await first.open();
  await first.leave();
  const file = path.join(dataDir, 'postgres', 'connection.json');
  const good = readFileSync(file, 'utf8');
  await writeFile(file, '{"user');
  const reports: unknown[] = [];
  const second = new EmbeddedPostgres(dataDir, (_, { error }: { error?: unknown }) => void reports.push(error));
  servers.push(second);
  const opening = second.open();
  await eventually(() => Promise.resolve(reports.length > 0));
  expect((reports[0] as Error).message).toContain(`${file} is damaged`);
  expect(readFileSync(file, 'utf8')).toBe('{"user');
  await writeFile(file, good);
  expect(new URL(await opening).password).toBe(new URL(url).password);
});
