import { commandName, exitOfCommand, type Terminal } from '@hindcast/platform/terminal';
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { LONGEST_REASON } from '../../rollback-request';
import { diff } from './diff';
import { exportMergedVersion } from './export-merged';
import { list } from './list';
import { rollback } from './rollback';
import { show } from './show';

/** Exit codes: 0 done, 1 failed or declined, 2 the command or the configuration is wrong. */
const MISUSED = 2;

/** `npm run policy`: runs one command and returns its exit code. What goes wrong is one line for the person, without a stack. */
export async function runPolicyCommand(args: readonly string[], terminal: Terminal): Promise<number> {
  const program = policyProgram(terminal);
  for (const command of [program, ...program.commands]) {
    command.exitOverride().configureOutput({
      writeOut: (text) => terminal.print(text.trimEnd()),
      writeErr: (text) => terminal.say(text.trimEnd()),
    });
  }
  try {
    await program.parseAsync(args, { from: 'user' });
    return 0;
  } catch (error) {
    // Commander has said already what is wrong, or shown the help.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : MISUSED;
    terminal.say(error instanceof Error ? error.message : String(error));
    return exitOfCommand(error, ['not-found']);
  }
}

function policyProgram(terminal: Terminal): Command {
  const program = new Command(commandName('hindcast policy', 'npm run policy --')).description(
    "The policy's versions: what each was trained on, which one serves, how they differ, and the way back.",
  );
  addCommon(program.command('list').description('lists the versions, newest first')).action((flags) =>
    list(terminal, flags),
  );
  addCommon(
    program.command('show').argument('<version>', 'its number', versionNumber).description('shows one version whole'),
  ).action((version: number, flags) => show(terminal, version, flags));
  addCommon(
    program
      .command('diff')
      .argument('<a>', 'a version; 0 is the base model', versionNumber)
      .argument('<b>', 'another one', versionNumber)
      .description('compares the hyperparameters and the weights of two versions'),
  ).action((a: number, b: number, flags) => diff(terminal, a, b, flags));
  addCommon(
    program
      .command('rollback')
      .argument('<version>', 'an earlier one that served; 0 is the base model', versionNumber)
      .description('puts an earlier version back into service; what came after it never serves again'),
  )
    .addOption(new Option('--reason <text>', 'why; it is written into the manifests').argParser(reason))
    .option('--yes', 'without asking')
    .addOption(new Option('--wait <seconds>', 'how long to wait for a running trainer').argParser(seconds).default(60))
    .action((version: number, flags) => rollback(terminal, version, flags));
  addCommon(
    program
      .command('export-merged')
      .argument('<version>', 'its number', versionNumber)
      .argument('<folder>', 'where to write; it must not be there yet')
      .description('writes a version as one model directory: base model and adapter merged'),
  )
    .addOption(
      new Option('--dtype <type>', 'how numbers are stored').choices(['float32', 'bfloat16']).default('float32'),
    )
    .action((version: number, folder: string, flags) => exportMergedVersion(terminal, version, folder, flags));
  return program;
}

function addCommon(command: Command): Command {
  return command
    .option('--json', 'print JSON')
    .option('--policy-dir <folder>', "the trainer's POLICY_DIR (default: POLICY_DIR, else that of DATA_DIR)")
    .option('--data-dir <folder>', "the trainer's DATA_DIR (default: DATA_DIR, else what npm start uses)");
}

function versionNumber(text: string): number {
  const value = Number(text.replace(/^v/, ''));
  // An empty text is a variable of a script that nobody set, and not the base model.
  if (!/^v?\d+$/.test(text) || !Number.isSafeInteger(value))
    throw new InvalidArgumentError('a version is a whole number from 0 on');
  return value;
}

function reason(text: string): string {
  if (text.length > LONGEST_REASON) throw new InvalidArgumentError(`at most ${LONGEST_REASON} characters`);
  return text;
}

function seconds(text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !(value >= 0)) throw new InvalidArgumentError('a number of seconds');
  return value;
}
