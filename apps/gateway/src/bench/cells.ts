/** What the comparison needs. */
export const DEFAULT_TARGETS = ['direct', 'hindcast', 'portkey'] as const;
/** `bare` and `bare-stored`: what the least that a gateway can do costs, without and with storing every answer. */
export const TARGETS = [...DEFAULT_TARGETS, 'bare', 'bare-stored'] as const;
export type Target = (typeof TARGETS)[number];

/** Tokens of every answer. */
export const ANSWER_TOKENS = 64;
/** Pause of a paced engine between two tokens, milliseconds. */
export const PACE_MS = 20;

export interface Cell {
  readonly concurrency: number;
  readonly stream: boolean;
  /** Milliseconds between two tokens at the engine; 0: none. */
  readonly paceMs: number;
  readonly promptBytes: number;
}

const KB = 1024;
const CONCURRENCIES = [1, 16, 64];

export const CELLS: readonly Cell[] = [
  ...[1 * KB, 200 * KB].flatMap((promptBytes) =>
    [false, true].flatMap((stream) =>
      CONCURRENCIES.map((concurrency) => ({ concurrency, stream, paceMs: 0, promptBytes })),
    ),
  ),
  ...CONCURRENCIES.map((concurrency) => ({ concurrency, stream: true, paceMs: PACE_MS, promptBytes: 1 * KB })),
];

/** `c16/stream/1kB`; a paced one is `c16/paced/1kB`. */
export const cellName = ({ concurrency, stream, paceMs, promptBytes }: Cell): string =>
  [`c${concurrency}`, paceMs > 0 ? 'paced' : stream ? 'stream' : 'whole', `${promptBytes / KB}kB`].join('/');

/** Cells whose name has all parts of one of the patterns: `c16,c64/paced` is all of 16 and the paced one of 64. */
export function chosenCells(patterns: readonly string[]): readonly Cell[] {
  if (patterns.length === 0) return CELLS;
  const isChosen = (cell: Cell): boolean => {
    const parts = cellName(cell).split('/');
    return patterns.some((pattern) => pattern.split('/').every((part) => parts.includes(part)));
  };
  return CELLS.filter(isChosen);
}

/** Requests after which every target has its hot paths compiled; a gateway runs for weeks. */
export const warmUpRequestsOf = (promptBytes: number): number => (promptBytes > 1 * KB ? 300 : 3_000);

/** Requests of one round: enough for a percentile, and no more than a few seconds. */
export function requestsOf({ concurrency, paceMs, promptBytes }: Cell): number {
  if (paceMs > 0) return Math.max(3, 2 * concurrency);
  if (promptBytes > 1 * KB) return concurrency === 1 ? 64 : 192;
  return concurrency === 1 ? 200 : 1_000;
}
