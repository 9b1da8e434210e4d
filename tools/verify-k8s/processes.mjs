// Processes that outlive this command with --keep: each writes to a log file and is remembered by its id.
import { spawn } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Unavailable } from './commands.mjs';

const TERM_MS = 10_000;

export class Processes {
  #running = [];

  /** @param folder of logs and of `processes.json` */
  constructor(folder) {
    this.folder = folder;
    mkdirSync(folder, { recursive: true });
  }

  /** Starts a process. `name` is that of its log file. */
  start(name, command, args, env = {}) {
    const log = openSync(join(this.folder, `${name}.log`), 'w');
    const child = spawn(command, args, {
      env: { ...process.env, ...env },
      stdio: ['ignore', log, log],
      detached: true,
    });
    closeSync(log);
    child.on('error', () => undefined);
    child.unref();
    const entry = { name, pid: child.pid, command: command === process.execPath ? args[0] : command, child };
    this.#running.push(entry);
    this.#remember();
    return entry;
  }

  /** Waits until `isReady` holds. @throws Unavailable when the process ends before, or after `limitMs` */
  async untilReady(entry, isReady, limitMs = 60_000) {
    const end = Date.now() + limitMs;
    while (!(await isReady().catch(() => false))) {
      if (entry.child.exitCode !== null || entry.child.signalCode !== null || entry.pid === undefined)
        throw new Unavailable(`${entry.name} ended:\n${this.logEnd(entry.name)}`);
      if (Date.now() > end)
        throw new Unavailable(`${entry.name} is not ready after ${limitMs / 1000} s:\n${this.logEnd(entry.name)}`);
      await sleep(200);
    }
  }

  logEnd(name) {
    return readFileSync(join(this.folder, `${name}.log`), 'utf8')
      .trim()
      .split('\n')
      .slice(-15)
      .join('\n');
  }

  /** Ends one process, or all, the youngest first. */
  async stop(only) {
    const chosen = only === undefined ? [...this.#running].reverse() : [only];
    for (const entry of chosen) {
      await end(entry.pid, () => entry.child.exitCode === null && entry.child.signalCode === null);
      this.#running.splice(this.#running.indexOf(entry), 1);
    }
    this.#remember();
  }

  #remember() {
    const file = join(this.folder, 'processes.json');
    if (this.#running.length === 0) return rmSync(file, { force: true });
    writeFileSync(file, JSON.stringify(this.#running.map(({ name, pid, command }) => ({ name, pid, command }))));
  }

  /** Ends what an earlier run left in this folder. @returns their names */
  async stopEarlier() {
    const file = join(this.folder, 'processes.json');
    if (!existsSync(file)) return [];
    const left = JSON.parse(readFileSync(file, 'utf8'))
      .reverse()
      .filter((entry) => isThat(entry));
    for (const entry of left) await end(entry.pid, () => isThat(entry));
    rmSync(file, { force: true });
    return left.map(({ name }) => name);
  }
}

/** A process id is given to another process one day: only one that still runs the same command is ours. */
function isThat({ pid, command }) {
  try {
    if (readlinkSync(`/proc/${pid}/exe`) === command) return true;
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').includes(command);
  } catch {
    return false;
  }
}

async function end(pid, isAlive) {
  if (pid === undefined || !isAlive()) return;
  try {
    process.kill(pid, 'SIGTERM');
    for (const limit = Date.now() + TERM_MS; isAlive() && Date.now() < limit;) await sleep(50);
    if (isAlive()) process.kill(pid, 'SIGKILL');
  } catch {
    // It ended meanwhile.
  }
}

/** `count` ports of loopback that nothing listens on at this moment. */
export async function freePorts(count) {
  const servers = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'));
  await Promise.all(servers.map((server) => once(server, 'listening')));
  const ports = servers.map((server) => server.address().port);
  await Promise.all(servers.map((server) => (server.close(), once(server, 'close'))));
  return ports;
}
