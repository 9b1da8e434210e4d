import { SingleBar } from 'cli-progress';
import type { Terminal } from './process-terminal';

/** Plain lines where there is no terminal to draw on: about this many in all. */
const PLAIN_LINES = 4;

/** How far a long command is: one bar on a terminal, a few lines elsewhere. */
export class Progress {
  private readonly bar: SingleBar | null;
  private done = 0;

  constructor(
    private readonly terminal: Terminal,
    private readonly title: string,
    private readonly total: number,
  ) {
    this.bar = terminal.bars
      ? new SingleBar({
          format: `${title} {bar} {value}/{total} {eta_formatted}`,
          stream: terminal.bars,
          hideCursor: true,
          barsize: 28,
        })
      : null;
    this.bar?.start(total, 0);
  }

  advance(by = 1): void {
    const before = this.done;
    this.done += by;
    if (this.bar) return this.bar.update(Math.min(this.done, this.total));
    const step = Math.max(1_000, Math.ceil(this.total / PLAIN_LINES));
    if (Math.floor(before / step) < Math.floor(this.done / step))
      this.terminal.say(`${this.title} ${this.done}/${this.total}`);
  }

  stop(): void {
    this.bar?.stop();
  }
}

/** Runs `work` under a progress bar; nothing is shown where there is nothing to do. */
export async function withProgress<T>(
  terminal: Terminal,
  title: string,
  total: number,
  work: (onDone: (count: number) => void) => Promise<T>,
): Promise<T> {
  if (total === 0) return work(() => undefined);
  const progress = new Progress(terminal, title, total);
  try {
    return await work((count) => progress.advance(count));
  } finally {
    progress.stop();
  }
}
