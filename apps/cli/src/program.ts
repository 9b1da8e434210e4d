import { exitOfCommand, type Terminal } from '@hindcast/platform/terminal';
import { Command, CommanderError } from 'commander';
import { chat } from './commands/chat';
import { doctor } from './commands/doctor';
import { feedback } from './commands/feedback';
import { status } from './commands/status';
import { turns } from './commands/turns';
import { otherPrograms, runOtherProgram, type Launch } from './other-programs';
import { processScreen, type Screen } from './screen';
import { Unsound } from './unsound';

/** The command or the configuration is wrong. */
const MISUSED = 2;

/**
 * Runs one command and returns its exit code: 0 done; 1 failed, declined or faults found; 2 the command or the configuration is wrong.
 * What goes wrong is one line for the person, without a stack.
 */
export async function runHindcast(
  args: readonly string[],
  terminal: Terminal,
  screen: Screen = processScreen(),
  launch?: Launch,
): Promise<number> {
  const [first, second] = args;
  const other = otherPrograms.find(({ name }) => name === (first === 'help' ? second : first));
  if (other) return await runOtherProgram(other, first === 'help' ? ['--help'] : args.slice(1), terminal.env, launch);
  try {
    await programOf(terminal, screen, launch).parseAsync(args, { from: 'user' });
    return 0;
  } catch (error) {
    // Commander has said already what is wrong, or shown the help.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : MISUSED;
    if (error instanceof Unsound) return 1;
    terminal.say(error instanceof Error ? error.message : String(error));
    return exitOfCommand(error);
  }
}

function programOf(terminal: Terminal, screen: Screen, launch: Launch | undefined): Command {
  const program = new Command('hindcast')
    .description(
      'Hindcast: an OpenAI-compatible endpoint that trains the model behind it from the conversations it serves.',
    )
    .enablePositionalOptions()
    .addHelpText(
      'after',
      '\n`hindcast <command> --help` shows the options of a command. docs/commands.md has them all.',
    );
  const own = [
    ...[chat, status, turns, feedback].map((command) => command(terminal, screen)),
    doctor(terminal, screen, launch),
  ];
  // In the order in which a person meets them.
  const names = [
    'up',
    'demo',
    'chat',
    'status',
    'turns',
    'feedback',
    'policy',
    'deadletters',
    'replay',
    'export',
    'forget',
  ];
  const listed = [
    ...own,
    ...otherPrograms.map(({ name, description }) => new Command(name).description(description).helpOption(false)),
  ];
  const place = (name: string): number => (names.includes(name) ? names.indexOf(name) : names.length);
  for (const command of [...listed].sort((a, b) => place(a.name()) - place(b.name()))) program.addCommand(command);
  eachCommand(program, (command) => {
    command.exitOverride().configureOutput({
      writeOut: (text) => terminal.print(text.trimEnd()),
      writeErr: (text) => terminal.say(text.trimEnd()),
    });
  });
  return program;
}

function eachCommand(command: Command, change: (command: Command) => void): void {
  change(command);
  for (const child of command.commands) eachCommand(child, change);
}
