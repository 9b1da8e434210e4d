import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const tool = join(__dirname, '../../../tools/pass-signals.mjs');

/** Counts the signals it gets, and ends a moment after the first. */
const CHILD = `
  let count = 0;
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => {
    if (++count === 1) setTimeout(() => { console.log(signal, count); process.exit(7); }, 300);
  });
  setInterval(() => undefined, 1000);
  console.log('ready');
`;
const WRAPPER = `
  import { spawn } from 'node:child_process';
  import { passSignals } from ${JSON.stringify(tool)};
  const child = spawn(process.execPath, ['-e', ${JSON.stringify(CHILD)}], { stdio: 'inherit' });
  passSignals(child);
  child.on('exit', (code) => process.exit(code ?? 1));
`;

it.each(['SIGINT', 'SIGTERM'] as const)('%s to the wrapper alone reaches its child, once', async (signal) => {
  // A session of its own: no terminal, as under a service manager.
  const wrapper = spawn(process.execPath, ['--input-type=module', '-e', WRAPPER], {
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  });
  const exit = once(wrapper, 'exit');
  const lines: string[] = [];
  const reader = createInterface({ input: wrapper.stdout }).on('line', (line) => lines.push(line));
  await once(reader, 'line');
  wrapper.kill(signal);
  expect(await exit).toEqual([7, null]);
  expect(lines).toEqual(['ready', `${signal} 1`]);
});
