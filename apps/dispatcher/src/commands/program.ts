import { commandName, exitOfCommand } from '@hindcast/platform/terminal';
import { Command, CommanderError } from 'commander';
import { deadletters } from './deadletters';
import { exportCommand } from './export';
import { forget } from './forget';
import { judgeAgreementCommand } from './judge-agreement';
import { migrateCommand } from './migrate';
import { replay } from './replay';
import { Declined, Interrupted, type Terminal } from './terminal';

/** The commands over the ledger; each is an npm script of its own. */
const commands = [deadletters, replay, exportCommand, forget, judgeAgreementCommand, migrateCommand];

/** Exit codes: 0 done, 1 failed or declined, 2 the command or the configuration is wrong, 130 and 143 interrupted. */
const MISUSED = 2;

/**
 * Runs one command and returns its exit code. What goes wrong is one line for the person, without a stack.
 *
 * @param args the command's name and its arguments
 */
export async function runCommand(args: readonly string[], terminal: Terminal): Promise<number> {
  const program = new Command(commandName('hindcast', 'npm run')).description(
    'Commands over the ledger of a dispatcher.',
  );
  for (const command of commands) program.addCommand(command(terminal));
  eachCommand(program, (command) => {
    command.exitOverride().configureOutput({
      writeOut: (text) => terminal.print(text.trimEnd()),
      writeErr: (text) => terminal.say(text.trimEnd()),
    });
  });
  try {
    await program.parseAsync(args, { from: 'user' });
    return 0;
  } catch (error) {
    // Commander has said already what is wrong, or shown the help.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : MISUSED;
    terminal.say(error instanceof Error ? error.message : String(error));
    if (error instanceof Declined) return 1;
    if (error instanceof Interrupted) return error.signal === 'SIGINT' ? 130 : 143;
    return exitOfCommand(error);
  }
}

function eachCommand(command: Command, change: (command: Command) => void): void {
  change(command);
  for (const child of command.commands) eachCommand(child, change);
}
