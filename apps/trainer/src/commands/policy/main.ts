import { processTerminal } from '@hindcast/platform/terminal';
import { runPolicyCommand } from './program';

// A reader that has seen enough (`| head`) is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1));

void runPolicyCommand(process.argv.slice(2), processTerminal(process.env)).then((code) => {
  process.exitCode = code;
});
