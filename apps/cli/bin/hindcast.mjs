#!/usr/bin/env node
// `npx hindcast`, or `node apps/cli/bin/hindcast.mjs`: prepares the checkout where something is missing, then runs the command line.
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import process from 'node:process';
import { endWithNpm } from '../../../tools/end-with-npm.mjs';
import { checkNode, ensureBuilt, ensureInstalled, isWhole, prepare, root } from '../../../tools/setup.mjs';

/** Commands that start a broker of their own. */
const STARTS_A_BROKER = ['up', 'demo'];
endWithNpm();
const args = process.argv.slice(2);
const isHelp = args.includes('--help') || args.includes('-h');
const main = join(root, 'apps/cli/dist/main.js');

if (STARTS_A_BROKER.includes(args[0]) && !isHelp) {
  await prepare();
} else {
  checkNode();
  // A look at what runs waits for neither npm nor the compiler where there is something to run; `hindcast doctor` says when packages or
  // build are older than the checkout.
  if (!isWhole()) await ensureInstalled();
  const apps = ['cli', 'dispatcher', 'trainer', 'simulator', 'judge-svc'];
  if (!apps.every((app) => existsSync(join(root, 'apps', app, 'dist')))) await ensureBuilt();
}
if (!existsSync(main)) await ensureBuilt();
createRequire(import.meta.url)(main);
