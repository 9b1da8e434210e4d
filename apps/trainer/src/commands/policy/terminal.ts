import { createInterface } from 'node:readline/promises';
import { HindcastError } from '@hindcast/contracts';
import { SingleBar } from 'cli-progress';

/** What a command reads from and writes to. Standard output belongs to results, standard error to the person. */
export interface Terminal {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Part of the result. */
  print(text: string): void;
  /** A line for the person. */
  say(line: string): void;
  /** Where a progress bar is drawn; `null` where nobody looks. */
  readonly bars: NodeJS.WritableStream | null;
  /** @throws HindcastError `invalid-request` where nobody can be asked */
  confirm(question: string): Promise<boolean>;
}

export function processTerminal(env: Terminal['env']): Terminal {
  return {
    env,
    print: (text) => void process.stdout.write(`${text}\n`),
    say: (line) => void process.stderr.write(`${line}\n`),
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

/** Runs `work` under a progress bar, where there is a terminal to draw on. */
export async function withBar<T>(
  { bars }: Terminal,
  title: string,
  total: number,
  work: (onDone: () => void) => Promise<T>,
): Promise<T> {
  if (!bars || total === 0) return await work(() => undefined);
  const bar = new SingleBar({ format: `${title} {bar} {value}/{total}`, stream: bars, hideCursor: true, barsize: 28 });
  bar.start(total, 0);
  try {
    return await work(() => bar.increment());
  } finally {
    bar.stop();
  }
}

/** Rows under a heading, columns aligned. */
export function textTable(heading: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [heading, ...rows];
  const widths = heading.map((_, column) => Math.max(...lines.map((line) => line[column]!.length)));
  return lines
    .map((line) =>
      line
        .map((cell, column) => cell.padEnd(widths[column]!))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
