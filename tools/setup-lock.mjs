import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const POLL_MS = 250;

/**
 * Takes a lock file for this process, and waits while a process that lives has it. It is released by the returned function, or with this
 * process.
 * @param onWaiting called once with the process that has it
 */
export async function takeLock(file, onWaiting) {
  mkdirSync(dirname(file), { recursive: true });
  let hasSaid = false;
  while (!take(file)) {
    const holder = holderOf(file);
    if (holder !== null && isAlive(holder)) {
      if (!hasSaid) onWaiting(holder);
      hasSaid = true;
      await sleep(POLL_MS);
    } else discard(file, holder);
  }
  const release = () => {
    if (holderOf(file) === process.pid) rmSync(file, { force: true });
  };
  process.once('exit', release);
  return release;
}

/** A link appears with its content, so that nobody reads a lock that does not name its holder yet. */
function take(file) {
  const own = `${file}.${process.pid}`;
  writeFileSync(own, String(process.pid));
  try {
    linkSync(own, file);
    return true;
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
    return false;
  } finally {
    rmSync(own, { force: true });
  }
}

/** Of two that find the same dead holder, the slower one must not take the lock of the faster one away. */
function discard(file, holder) {
  const aside = `${file}.${process.pid}.old`;
  try {
    renameSync(file, aside);
    if (holderOf(aside) !== holder) linkSync(aside, file);
  } catch {
    // Another one was faster.
  }
  rmSync(aside, { force: true });
}

function holderOf(file) {
  try {
    return Number(readFileSync(file, 'utf8')) || null;
  } catch {
    return null;
  }
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}
