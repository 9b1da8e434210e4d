import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(__dirname, '../../..');
const mains = readdirSync(join(root, 'apps'))
  .map((app) => `apps/${app}/src/main.ts`)
  .filter((path) => existsSync(join(root, path)) && readFileSync(join(root, path), 'utf8').includes('runApp('));

it.each(['SIGTERM', 'SIGINT'] as const)('%s before anything is served ends the process with 0', async (signal) => {
  const register = join(__dirname, 'testing/register.cjs');
  const child = spawn(process.execPath, ['-r', register, join(__dirname, 'testing/slow-start.ts')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exit = once(child, 'exit');
  await once(child.stdout, 'data');
  child.kill(signal);
  expect(await exit).toEqual([0, null]);
});

it.each(mains)('%s begins with it', (path) => {
  expect(readFileSync(join(root, path), 'utf8')).toMatch(/^import '@hindcast\/platform\/first';\n/);
});

it('holds for all services', () => expect(mains).toHaveLength(7));
