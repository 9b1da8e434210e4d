import { createInterface } from 'node:readline/promises';
import { HindcastError } from '@hindcast/contracts';

/** What a command reads from and writes to. Standard output belongs to results, standard error to the person. */
export interface Terminal {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Part of the result. */
  print(text: string): void;
  /** A line for the person. */
  say(line: string): void;
  /** Columns of a line; plain output is never cut. */
  readonly width: number;
  /** Where a progress bar is drawn; `null` where only plain lines make sense. */
  readonly bars: NodeJS.WritableStream | null;
  /**
   * Asks before something that cannot be undone.
   *
   * @throws HindcastError `invalid-request` where nobody can be asked
   */
  confirm(question: string): Promise<boolean>;
}

export function processTerminal(env: Terminal['env']): Terminal {
  return {
    env,
    print: (text) => void process.stdout.write(`${text}\n`),
    say: (line) => void process.stderr.write(`${line}\n`),
    width: process.stdout.columns ?? 120,
    bars: process.stderr.isTTY ? process.stderr : null,
    confirm: async (question) => {
      if (!process.stdin.isTTY)
        throw new HindcastError('invalid-request', `${question} Nobody can be asked here: give --yes`);
      const reader = createInterface({ input: process.stdin, output: process.stderr });
      const given = new Promise<string>((resolve, reject) => {
        reader.question(`${question} [y/N] `).then(resolve, reject);
        // Ctrl-C and the end of the input are a no.
        reader.once('SIGINT', () => reader.close()).once('close', () => resolve(''));
      });
      return given.then((answer) => /^y(es)?$/i.test(answer.trim())).finally(() => reader.close());
    },
  };
}

/** Ends a command that the person has answered with no. */
export class Declined extends Error {
  override readonly name = 'Declined';
}

/** @throws Declined when the person says no */
export async function ask(terminal: Terminal, question: string, isAgreed: boolean): Promise<void> {
  if (!isAgreed && !(await terminal.confirm(question))) throw new Declined('Nothing was changed.');
}

const MISUSES: readonly string[] = ['config-invalid', 'invalid-request'];

/** Exit code of a command that threw: 2 where the command or the configuration is wrong, else 1. */
export const exitOfCommand = (error: unknown, alsoMisuses: readonly string[] = []): 1 | 2 =>
  error instanceof HindcastError && (MISUSES.includes(error.code) || alsoMisuses.includes(error.code)) ? 2 : 1;
