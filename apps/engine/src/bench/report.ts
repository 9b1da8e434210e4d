export const ENGINES = ['hindcast', 'node-llama-cpp'] as const;
export type EngineName = (typeof ENGINES)[number];

export interface Row {
  /** `1M`, `10M`. */
  readonly params: string;
  readonly batch: number;
  readonly engine: EngineName;
  /** Median over the rounds. */
  readonly tokensPerSecond: number;
  /** The same by CPU time of all threads: what a busy machine disturbs less. */
  readonly tokensPerCpuSecond: number;
}

export interface Ratio {
  readonly params: string;
  readonly batch: number;
  /** Median over the rounds of our tokens per second by the other engine's of the same round. */
  readonly timesNodeLlamaCpp: number;
  /** The same of tokens per second of CPU time. */
  readonly byCpuTime: number;
}

/** What one engine did in one round: tokens per second of wall time, and of CPU time. */
export interface Speed {
  readonly wall: number;
  readonly cpu: number;
}

/** One cell, by engine, round by round. */
export interface Cell {
  readonly params: string;
  readonly batch: number;
  readonly measured: Readonly<Record<EngineName, readonly Speed[]>>;
}

/** Rows and ratios; an engine that was not measured has none. */
export function reportOf(cells: readonly Cell[]): { rows: Row[]; ratios: Ratio[] } {
  const rows = cells.flatMap(({ params, batch, measured }) =>
    ENGINES.filter((engine) => measured[engine].length > 0).map((engine) => ({
      params,
      batch,
      engine,
      tokensPerSecond: Math.round(median(measured[engine].map(({ wall }) => wall))),
      tokensPerCpuSecond: Math.round(median(measured[engine].map(({ cpu }) => cpu))),
    })),
  );
  const ratios = cells
    .filter(({ measured }) => measured['node-llama-cpp'].length > 0)
    .map(({ params, batch, measured }) => ({
      params,
      batch,
      timesNodeLlamaCpp: timesOther(measured, 'wall'),
      byCpuTime: timesOther(measured, 'cpu'),
    }));
  return { rows, ratios };
}

function timesOther(measured: Cell['measured'], of: keyof Speed): number {
  const byRound = measured.hindcast.map((ours, round) => ours[of] / measured['node-llama-cpp'][round]![of]);
  return Number(median(byRound).toFixed(2));
}

/** RangeError for no numbers. */
export function median(numbers: readonly number[]): number {
  if (numbers.length === 0) throw new RangeError('no numbers have no median');
  const sorted = [...numbers].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}
