import { runCommand } from '../commands/program';
import type { Terminal } from '../commands/terminal';

export interface CommandResult {
  readonly code: number;
  readonly printed: string;
  readonly said: string;
}

/**
 * Runs a command as its npm script does, in this process.
 *
 * @param answer what the person says when asked
 * @param onSaid hears each line at once
 */
export async function run(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  answer: boolean | null = null,
  onSaid: (line: string) => void = () => undefined,
): Promise<CommandResult> {
  const printed: string[] = [];
  const said: string[] = [];
  const terminal: Terminal = {
    env,
    print: (text) => void printed.push(text),
    say: (line) => {
      said.push(line);
      onSaid(line);
    },
    width: 200,
    bars: null,
    interrupted: new Promise(() => undefined),
    confirm: (question) => {
      said.push(question);
      return answer === null ? Promise.reject(new Error('nobody can be asked')) : Promise.resolve(answer);
    },
  };
  const code = await runCommand(args, terminal);
  return { code, printed: printed.join('\n'), said: said.join('\n') };
}

/** Result of a command that must have worked, as the JSON that it printed. */
export async function runJson<T>(args: readonly string[], env: Readonly<Record<string, string>>): Promise<T> {
  const { code, printed, said } = await run([...args, '--json'], env);
  if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}: ${said}`);
  return JSON.parse(printed) as T;
}
