// `npm test [-- jest arguments]`: prepares the checkout, runs every jest project, then the end-to-end tests, and ends with the names of what
// failed and one summed line.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { prepare, root } from './setup.mjs';
import { failuresOf, summaryOf } from './test-summary.mjs';

await prepare();
const jest = join(root, 'node_modules/jest/bin/jest.js');
const folder = mkdtempSync(join(tmpdir(), 'hindcast-test-'));
const args = process.argv.slice(2);

/** Runs jest once; a suite that did not even load counts as one failure. */
function runJest(name, ...options) {
  const outputFile = join(folder, `${name}.json`);
  const { status } = spawnSync(
    process.execPath,
    [jest, '--json', `--outputFile=${outputFile}`, '--silent=false', ...options, ...args],
    {
      cwd: root,
      stdio: ['ignore', 'ignore', 'inherit'],
    },
  );
  try {
    const result = JSON.parse(readFileSync(outputFile, 'utf8'));
    return { passed: result.numPassedTests, failures: failuresOf(result, root) };
  } catch {
    return { passed: 0, failures: status === 0 ? [] : [`jest of ${name}, which left no result`] };
  }
}

const runs = [
  runJest('projects', '--config', 'jest.config.cjs', '--maxWorkers=2'),
  // One after the other: each end-to-end test starts the whole system.
  runJest('e2e', '--config', 'e2e/jest.config.cjs', '--runInBand'),
];
rmSync(folder, { recursive: true });
const { passed, failed, text } = summaryOf(runs);
process.stdout.write(text);
process.exit(failed > 0 || passed === 0 ? 1 : 0);
