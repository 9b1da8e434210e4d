import { SingleBar } from 'cli-progress';

/** What a person sees of a long run: one bar on a terminal, plain lines now and then elsewhere. Writes to standard error. */
export class Progress {
  private readonly bar: SingleBar | null;
  private done = 0;

  constructor(
    private readonly title: string,
    private readonly total: number,
    private readonly every = Math.max(1, Math.floor(total / 8)),
  ) {
    this.bar = process.stderr.isTTY
      ? new SingleBar({
          format: `${title} {bar} {value}/{total} {note}`,
          hideCursor: true,
          stream: process.stderr,
          barsize: 28,
        })
      : null;
    this.bar?.start(total, 0, { note: '' });
  }

  advance(note = ''): void {
    this.done++;
    if (this.bar) this.bar.update(this.done, { note });
    else if (this.done % this.every === 0 || this.done === this.total)
      say(`${this.title} ${this.done}/${this.total} ${note}`.trimEnd());
  }

  /** A line that stays on the screen. */
  interrupt(line: string): void {
    if (this.bar) this.bar.update(this.done, { note: line });
    else say(line);
  }

  stop(): void {
    this.bar?.stop();
  }
}

/** A line for the person at the terminal; standard output belongs to results. */
export const say = (line = ''): void => void process.stderr.write(`${line}\n`);
