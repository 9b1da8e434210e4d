import type { SizeName } from './sizes';
import type { StepAnswer } from './step-process';

export type EngineName = 'hindcast' | 'pytorch';

export interface Row {
  readonly size: SizeName;
  readonly engine: EngineName;
  /** Tokens of a step, prompt and answer, by the median time of a step. `null` where the engine is not there. */
  readonly tokensPerSecond: number | null;
  readonly peakRssMb: number | null;
}

/** What was measured of one size. */
export interface Measured {
  readonly size: SizeName;
  /** Tokens of a step. */
  readonly tokens: number;
  readonly hindcast: readonly Round[];
  /** Empty where there is no PyTorch. */
  readonly pytorch: readonly Round[];
  /** Milliseconds of the step's matrix products alone, round by round. */
  readonly matmulMs: readonly number[];
  /**
   * Milliseconds that PyTorch takes for the step's matrix products alone and for AdamW at the rate of its memory; `null` where there is
   * no PyTorch.
   */
  readonly leastMs: number | null;
}

/** The steps of one engine in one round. */
export type Round = readonly StepAnswer[];

export interface Report {
  readonly rows: readonly Row[];
  /** Median over the rounds of tokens per second, ours by PyTorch's in the same round; `null` without PyTorch. */
  readonly ratios: Partial<Record<SizeName, number | null>>;
  /** The same of peak memory, ours by PyTorch's. */
  readonly memoryRatios: Partial<Record<SizeName, number | null>>;
  /**
   * What the ratio would be of a step that is nothing but PyTorch's own matrix products and AdamW at the rate of the memory; `null` without
   * PyTorch.
   */
  readonly ceilings: Partial<Record<SizeName, number | null>>;
  /** Share of a step's time that its matrix products take by themselves: the least of all sizes. */
  readonly matmulShare: number;
  readonly matmulShares: Partial<Record<SizeName, number>>;
  readonly threads: number;
  readonly rounds: number;
  /** Version of PyTorch; `null` where there is none. */
  readonly pytorch: string | null;
}

export function reportOf(measured: readonly Measured[], run: Pick<Report, 'threads' | 'rounds' | 'pytorch'>): Report {
  const shares = measured.map(
    ({ size, hindcast, matmulMs }) => [size, rounded(shareOf(hindcast, matmulMs), 3)] as const,
  );
  return {
    rows: measured.flatMap((of) => [rowOf(of, 'hindcast'), rowOf(of, 'pytorch')]),
    ratios: Object.fromEntries(measured.map((of) => [of.size, speedRatio(of)])),
    memoryRatios: Object.fromEntries(measured.map((of) => [of.size, memoryRatio(of)])),
    ceilings: Object.fromEntries(measured.map((of) => [of.size, ceiling(of)])),
    matmulShare: Math.min(...shares.map(([, share]) => share)),
    matmulShares: Object.fromEntries(shares),
    ...run,
  };
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

function rowOf(measured: Measured, engine: EngineName): Row {
  const { size, tokens } = measured;
  const rounds = measured[engine];
  if (rounds.length === 0) return { size, engine, tokensPerSecond: null, peakRssMb: null };
  return {
    size,
    engine,
    tokensPerSecond: Math.round((1000 * tokens) / median(rounds.map(timeOf))),
    peakRssMb: Math.round(peakOf(rounds)),
  };
}

function speedRatio({ hindcast, pytorch }: Measured): number | null {
  if (pytorch.length === 0) return null;
  return rounded(median(hindcast.map((round, i) => timeOf(pytorch[i]!) / timeOf(round))), 3);
}

function ceiling({ pytorch, leastMs }: Measured): number | null {
  return leastMs === null ? null : rounded(median(pytorch.map(timeOf)) / leastMs, 3);
}

function memoryRatio({ hindcast, pytorch }: Measured): number | null {
  return pytorch.length === 0 ? null : rounded(peakOf(hindcast) / peakOf(pytorch), 3);
}

function shareOf(rounds: readonly Round[], matmulMs: readonly number[]): number {
  return median(rounds.map((round, i) => matmulMs[i]! / timeOf(round)));
}

/** Milliseconds of a step in a round. */
const timeOf = (round: Round): number => median(round.map(({ ms }) => ms));

const peakOf = (rounds: readonly Round[]): number => Math.max(...rounds.flat().map(({ peakRssMb }) => peakRssMb));

const rounded = (value: number, digits: number): number => Number(value.toFixed(digits));
