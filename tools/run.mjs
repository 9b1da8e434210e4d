// `node tools/run.mjs [--no-nats] <package folder | built file> [arguments]`: prepares the checkout, then runs that package's main, or that file.
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { endWithNpm } from './end-with-npm.mjs';
import { passSignals } from './pass-signals.mjs';
import { isWhole, prepare, root } from './setup.mjs';

endWithNpm();
const args = process.argv.slice(2);
const nats = args[0] !== '--no-nats';
if (!nats) args.shift();
const [target, ...rest] = args;
const main = join(root, target.endsWith('.js') ? target : join(target, 'dist/main.js'));
const asksForHelp = rest.includes('--help') || rest.includes('-h');
const isReady = existsSync(main) && isWhole();
const help = join(root, target, `${rest[0]}-help.txt`);
if (asksForHelp && !isReady && existsSync(help)) {
  // Nobody waits for an install to be told the options.
  process.stdout.write(readFileSync(help));
  process.exit();
}
if (!asksForHelp || !isReady) await prepare({ nats: nats && !asksForHelp });

const child = spawn(process.execPath, [main, ...rest], { cwd: root, stdio: 'inherit' });
passSignals(child);
child.on('exit', (code, signal) => process.exit(signal ? 1 : (code ?? 1)));
