#!/usr/bin/env node
// `npx hindcast`, or `node apps/cli/bin/hindcast.mjs`: prepares the checkout where something is missing, then runs the command line.
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import process from 'node:process';
import { checkNode, ensureBuilt, ensureInstalled, prepare, root } from '../../../tools/setup.mjs';

/** Commands that start a broker of their own. */
const STARTS_A_BROKER = ['up', 'demo'];
const args = process.argv.slice(2);
const isHelp = args.includes('--help') || args.includes('-h');
const main = join(root, 'apps/cli/dist/main.js');

if (STARTS_A_BROKER.includes(args[0]) && !isHelp) {
  prepare();
} else {
  checkNode();
  ensureInstalled();
  // A look at what runs is not to wait for the compiler; `hindcast doctor` says when the build is older than the sources.
  const apps = ['cli', 'dispatcher', 'trainer', 'simulator', 'judge-svc'];
  if (!apps.every((app) => existsSync(join(root, 'apps', app, 'dist')))) ensureBuilt();
}
if (!existsSync(main)) ensureBuilt();
createRequire(import.meta.url)(main);
