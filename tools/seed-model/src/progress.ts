import { MultiBar, Presets, type SingleBar } from 'cli-progress';

/** A progress bar on a terminal; without one, a line now and then. */
export interface ProgressBar {
  update(value: number, detail: string): void;
  stop(): void;
}

const secondsBetweenLines = 30;

/** Starts a bar from `start` to `total`. */
export function progressBar(label: string, total: number, start = 0): ProgressBar {
  return process.stderr.isTTY ? terminalBar(label, total, start) : lines(label, total);
}

function terminalBar(label: string, total: number, start: number): ProgressBar {
  const bars = new MultiBar(
    {
      format: '{label} {bar} {percentage} %  {detail}  {eta_formatted} left',
      hideCursor: true,
      stream: process.stderr,
    },
    Presets.shades_grey,
  );
  const bar: SingleBar = bars.create(total, start, { label, detail: '' });
  return {
    update: (value, detail) => bar.update(Math.min(value, total), { label, detail }),
    stop: () => bars.stop(),
  };
}

function lines(label: string, total: number): ProgressBar {
  let printed = 0;
  return {
    update: (value, detail) => {
      const now = performance.now() / 1000;
      if (now - printed < secondsBetweenLines && value < total) return;
      printed = now;
      process.stderr.write(`${label} ${Math.floor((100 * Math.min(value, total)) / total)} %  ${detail}\n`);
    },
    stop: () => undefined,
  };
}
