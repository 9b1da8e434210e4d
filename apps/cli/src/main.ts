import { processTerminal } from '@hindcast/platform/terminal';
import { environment } from './config';
import { runHindcast } from './program';

// A reader that has seen enough (`| head`) is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1));

void runHindcast(process.argv.slice(2), processTerminal(environment)).then((code) => {
  process.exitCode = code;
});
