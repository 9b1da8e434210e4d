/** Mean and population standard deviation of numbers that are seen once, and a histogram of them. */
export class Spread {
  private count = 0;
  private mean = 0;
  private squares = 0;
  private readonly bins = new Array<number>(BINS).fill(0);

  add(value: number, times = 1): void {
    if (times === 0) return;
    // Welford 1962, with `times` equal values at once.
    const count = this.count + times;
    const distance = value - this.mean;
    this.mean += (distance * times) / count;
    this.squares += (distance * distance * this.count * times) / count;
    this.count = count;
    this.bins[binOf(value)]! += times;
  }

  /** `null` where there is no value. */
  summary(): { readonly count: number; readonly mean: number; readonly std: number } | null {
    if (this.count === 0) return null;
    return { count: this.count, mean: this.mean, std: Math.sqrt(this.squares / this.count) };
  }

  histogram(): readonly number[] {
    return this.bins;
  }
}

/** Bins of width 0.5 from −4 to 4; the two at the ends take everything beyond. */
const LOW = -4;
const WIDTH = 0.5;
const BINS = 18;

const binOf = (value: number): number => Math.min(BINS - 1, Math.max(0, Math.floor((value - LOW) / WIDTH) + 1));

const labelOf = (bin: number): string => {
  if (bin === 0) return `< ${LOW.toFixed(1)}`;
  const from = LOW + (bin - 1) * WIDTH;
  return bin === BINS - 1 ? `≥ ${from.toFixed(1)}` : `${from.toFixed(1)} … ${(from + WIDTH).toFixed(1)}`;
};

const BAR = 24;

/** Two histograms side by side, drawn to one scale; bins that are empty in both at the ends are left out. */
export function histogramLines(before: readonly number[], after: readonly number[]): string[] {
  const used = before.map((count, bin) => count + after[bin]!);
  const [first, last] = [used.findIndex((count) => count > 0), used.findLastIndex((count) => count > 0)];
  if (first < 0) return [];
  const most = Math.max(...before, ...after);
  const bar = (count: number): string => '█'.repeat(Math.round((count / most) * BAR)) || (count > 0 ? '▏' : '');
  const lines = [`${'advantage'.padEnd(14)}${'before'.padEnd(BAR + 10)}after`];
  for (let bin = first; bin <= last; bin++) {
    const [was, is] = [before[bin]!, after[bin]!];
    lines.push(
      `${labelOf(bin).padEnd(14)}${`${bar(was)} ${was || ''}`.padEnd(BAR + 10)}${bar(is)} ${is || ''}`.trimEnd(),
    );
  }
  return lines;
}
