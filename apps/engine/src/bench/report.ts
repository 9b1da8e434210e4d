export const ENGINES = ['hindcast', 'node-llama-cpp'] as const;
export type EngineName = (typeof ENGINES)[number];

export interface Row {
  /** `1M`, `10M`. */
  readonly params: string;
  readonly batch: number;
  readonly engine: EngineName;
  /** Median over the rounds. */
  readonly tokensPerSecond: number;
}

export interface Ratio {
  readonly params: string;
  readonly batch: number;
  /** Median over the rounds of our tokens per second by the other engine's of the same round. */
  readonly timesNodeLlamaCpp: number;
}

/** Tokens per second of one cell, by engine, round by round. */
export interface Cell {
  readonly params: string;
  readonly batch: number;
  readonly measured: Readonly<Record<EngineName, readonly number[]>>;
}

/** Rows and ratios; an engine that was not measured has none. */
export function reportOf(cells: readonly Cell[]): { rows: Row[]; ratios: Ratio[] } {
  const rows = cells.flatMap(({ params, batch, measured }) =>
    ENGINES.filter((engine) => measured[engine].length > 0).map((engine) => ({
      params,
      batch,
      engine,
      tokensPerSecond: Math.round(median(measured[engine])),
    })),
  );
  const ratios = cells
    .filter(({ measured }) => measured['node-llama-cpp'].length > 0)
    .map(({ params, batch, measured }) => ({
      params,
      batch,
      timesNodeLlamaCpp: Number(
        median(measured.hindcast.map((ours, round) => ours / measured['node-llama-cpp'][round]!)).toFixed(2),
      ),
    }));
  return { rows, ratios };
}

/** RangeError for no numbers. */
export function median(numbers: readonly number[]): number {
  if (numbers.length === 0) throw new RangeError('no numbers have no median');
  const sorted = [...numbers].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}
