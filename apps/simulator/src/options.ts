import { personas, type Persona } from '@hindcast/seed-world';
import { wholeNumber } from '@hindcast/platform/terminal';
import { InvalidArgumentError, Option, type Command } from 'commander';
import { feedbackKinds, type Feedback } from './core/user';
import type { Method } from './core/report';

export const methods = ['combine', 'opd', 'binary-rl', 'none'] as const satisfies readonly Method[];

export interface DemoFlags {
  readonly sessions: number;
  readonly persona: Persona;
  readonly feedback: Feedback;
  readonly method: Method;
  readonly seed: number;
  readonly patience: number;
  /** Settings of the services beyond the demo preset. */
  readonly set: Readonly<Record<string, string>>;
}

/** `NAME=value`, as often as wanted. */
export function setting(text: string, before: Readonly<Record<string, string>>): Record<string, string> {
  const [, name, value] = /^([A-Z][A-Z0-9_]+)=(.*)$/.exec(text) ?? [];
  if (name === undefined || value === undefined) throw new InvalidArgumentError('NAME=value');
  return { ...before, [name]: value };
}

export const setOption = (): Option =>
  new Option('--set <NAME=value>', 'a variable of .env.example for every service; may be given again')
    .argParser(setting)
    .default({}, 'none');

/** The flags that `demo` and `up` share. */
export function addDemoFlags(command: Command, defaults: { readonly sessions: number }): Command {
  return command
    .addOption(
      new Option('--sessions <n>', 'simulated conversations').argParser(wholeNumber(0)).default(defaults.sessions),
    )
    .addOption(
      new Option('--persona <who>', 'student: no lists or bold; ta: long answers; teacher: a kind word')
        .choices(personas)
        .default('student'),
    )
    .addOption(new Option('--feedback <kind>', 'how openly users complain').choices(feedbackKinds).default('mixed'))
    .addOption(new Option('--method <name>', 'how turns train the model').choices(methods).default('combine'))
    .addOption(
      new Option('--seed <n>', 'seed of questions, replies, sampling and judge noise')
        .argParser(wholeNumber(0))
        .default(1),
    )
    .addOption(
      new Option('--patience <seconds>', 'longest wait for a part that is away').argParser(wholeNumber(1)).default(600),
    )
    .addOption(setOption());
}
