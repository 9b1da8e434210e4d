// The command line from its sources, with the other apps' programs from theirs: `node -r register.cjs main.ts …`.
import { join } from 'node:path';
import { processTerminal } from '@hindcast/platform/terminal';
import { runHindcast } from '../program';
import { processScreen } from '../screen';
import { REGISTER, root } from './command';

void runHindcast(process.argv.slice(2), processTerminal(process.env), processScreen(), (entry) => [
  '-r',
  REGISTER,
  join(root, entry.replace('/dist/', '/src/').replace(/\.js$/, '.ts')),
]).then((code) => {
  process.exitCode = code;
});
