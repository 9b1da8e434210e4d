import { Command } from 'commander';
import { benchLearning } from './commands/bench-learning';
import { benchPipeline } from './commands/bench-pipeline';
import { demo } from './commands/demo';
import { evaluate } from './commands/evaluate';
import { up } from './commands/up';
import { say } from './progress';
import { Interrupted } from './start-stack';

const program = new Command('hindcast').description('Hindcast on one machine, with simulated users.');
program.addCommand(up).addCommand(demo).addCommand(benchLearning).addCommand(benchPipeline).addCommand(evaluate);

program.parseAsync().then(
  () => process.exit(0),
  (error: unknown) => {
    if (error instanceof Interrupted) process.exit(error.signal === 'SIGINT' ? 0 : 143);
    say(`\n${error instanceof Error ? error.message : String(error)}`);
    process.exit(1);
  },
);
