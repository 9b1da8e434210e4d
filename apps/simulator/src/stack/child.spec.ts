import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Child } from './child';

const logFile = (): string => join(mkdtempSync(join(tmpdir(), 'hindcast-child-')), 'log');
const start = (script: string, file: string, onLine?: (line: string) => void): Child =>
  Child.start('child', process.execPath, ['-e', script], {
    cwd: tmpdir(),
    env: process.env,
    logFile: file,
    ...(onLine ? { onLine } : {}),
  });

it('hands out lines, logs them, and knows how the process ended', async () => {
  const file = logFile();
  let child: Child | undefined;
  // The last lines of a process may be read after it has ended.
  const line = await new Promise((resolve) => {
    child = start('console.log("one"); console.error("two"); process.exitCode = 3', file, resolve);
  });
  await child!.whenEnded();
  expect(child!.ending).toEqual({ code: 3, signal: null });
  expect(line).toBe('one');
  expect(readFileSync(file, 'utf8')).toMatch(/two|one/);
});

it('kills a process that does not end when it is asked to', async () => {
  const ready = new Promise<Child>((resolve) => {
    const child = start(
      'process.on("SIGTERM", () => {}); setInterval(() => {}, 1000); console.log("up")',
      logFile(),
      () => resolve(child),
    );
  });
  const child = await ready;
  await child.stop(50);
  expect(child.ending?.signal).toBe('SIGKILL');
});
