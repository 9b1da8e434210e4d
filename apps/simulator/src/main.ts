import { Command, CommanderError } from 'commander';
import { benchLearning } from './commands/bench-learning';
import { benchPipeline } from './commands/bench-pipeline';
import { demo } from './commands/demo';
import { evaluate } from './commands/evaluate';
import { simulate } from './commands/simulate';
import { up } from './commands/up';
import { say } from './progress';
import { Interrupted } from './start-stack';

const program = new Command('hindcast').description('Hindcast on one machine, with simulated users.');
program
  .addCommand(up)
  .addCommand(demo)
  .addCommand(benchLearning)
  .addCommand(benchPipeline)
  .addCommand(evaluate)
  .addCommand(simulate);
for (const command of [program, ...program.commands]) command.exitOverride();

/** The command is wrong. */
const MISUSED = 2;

program.parseAsync().then(
  () => process.exit(0),
  (error: unknown) => {
    // Commander has said already what is wrong, or shown the help.
    if (error instanceof CommanderError) process.exit(error.exitCode === 0 ? 0 : MISUSED);
    if (error instanceof Interrupted) process.exit(error.signal === 'SIGINT' ? 0 : 143);
    say(`\n${error instanceof Error ? error.message : String(error)}`);
    process.exit(1);
  },
);
