// `npm run verify:k8s`: the overlays of k8s/ on a real control plane. What is simulated, and how long it takes: k8s/README.md.
import { rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { definitionFolders, ensureBinaries } from './binaries.mjs';
import { Unavailable, run } from './commands.mjs';
import { lineOf } from './core/report.mjs';
import { USAGE, optionsOf } from './options.mjs';
import { Processes } from './processes.mjs';
import { giveUp, prepare } from '../setup.mjs';

const options = readOptions();
if (options.help) {
  process.stdout.write(USAGE);
  process.exit(0);
}
const data = resolve(options.data);
const folder = join(data, 'run');
const tell = (text) => process.stderr.write(`${text}\n`);
const say = options.verbose ? tell : () => undefined;

const processes = new Processes(join(folder, 'logs'));
const earlier = await processes.stopEarlier();
if (earlier.length > 0) tell(`ended what was left running: ${earlier.join(', ')}`);
if (options.stop) process.exit(0);

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'])
  process.on(signal, () => void processes.stop().finally(() => process.exit(130)));

try {
  process.exitCode = await verify();
} catch (error) {
  if (!(error instanceof Unavailable)) tell(`unexpected: ${error.stack}`);
  else tell(error.message);
  process.exitCode = 3;
} finally {
  if (options.keep)
    tell(`left running: export KUBECONFIG=${join(folder, 'admin.kubeconfig')} (npm run verify:k8s -- --stop ends it)`);
  else await processes.stop();
}
// The broker's client keeps trying to reach a server that is gone.
process.exit();

async function verify() {
  if (options.build) return void (await ensureBinaries(data, tell));
  await prepare();
  for (const [command, ...args] of [
    ['kubectl', 'version', '--client'],
    ['openssl', 'version'],
  ])
    await run(command, args, { whatFailed: `${command} is needed:` });
  const bin = await ensureBinaries(data, tell);
  const definitions = await definitionFolders();
  // The state of a run that was stopped half-way proves nothing.
  for (const name of ['etcd', 'certificates', 'broker', 'keda', 'overlay'])
    rmSync(join(folder, name), { recursive: true, force: true });

  // Loaded late: it needs the packages and the build.
  const { runProofs } = await import('./run-proofs.mjs');
  const results = [];
  const report = (result) => {
    results.push(result);
    if (!options.json) process.stdout.write(`${lineOf(result)}\n`);
  };
  await runProofs({ bin, definitions, folder, k8s: resolve(options.k8s), only: options.only, processes, report, say });
  const failed = results.filter(({ ok }) => !ok).length;
  if (options.json) process.stdout.write(`${JSON.stringify({ ok: failed === 0, proofs: results })}\n`);
  return failed === 0 ? 0 : 1;
}

function readOptions() {
  try {
    return optionsOf(process.argv.slice(2));
  } catch (error) {
    return giveUp(`${error.message}\n\n${USAGE}`);
  }
}
