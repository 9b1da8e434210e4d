// `node tools/run.mjs [--no-nats] <package folder | built file> [arguments]`: prepares the checkout, then runs that package's main, or that file.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { prepare, root } from './setup.mjs';

const args = process.argv.slice(2);
const nats = args[0] !== '--no-nats';
if (!nats) args.shift();
const [target, ...rest] = args;
prepare({ nats: nats && !rest.includes('--help') && !rest.includes('-h') });

const child = spawn(
  process.execPath,
  [join(root, target.endsWith('.js') ? target : join(target, 'dist/main.js')), ...rest],
  { cwd: root, stdio: 'inherit' },
);
// A terminal sends Ctrl-C to the whole group; a `kill` reaches only this process and is passed on.
process.on('SIGINT', () => undefined);
for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
child.on('exit', (code, signal) => process.exit(signal ? 1 : (code ?? 1)));
