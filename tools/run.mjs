// `node tools/run.mjs [--no-nats] <package folder | built file> [arguments]`: prepares the checkout, then runs that package's main, or that file.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { passSignals } from './pass-signals.mjs';
import { prepare, root } from './setup.mjs';

const args = process.argv.slice(2);
const nats = args[0] !== '--no-nats';
if (!nats) args.shift();
const [target, ...rest] = args;
await prepare({ nats: nats && !rest.includes('--help') && !rest.includes('-h') });

const child = spawn(
  process.execPath,
  [join(root, target.endsWith('.js') ? target : join(target, 'dist/main.js')), ...rest],
  { cwd: root, stdio: 'inherit' },
);
passSignals(child);
child.on('exit', (code, signal) => process.exit(signal ? 1 : (code ?? 1)));
