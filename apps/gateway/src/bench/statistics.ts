/** Nearest-rank percentile; `null` of nothing. */
export function percentile(values: readonly number[], share: number): number | null {
  if (values.length === 0) return null;
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)]!;
}

/** Median of the values that are there; `null` when none is. */
export function median(values: readonly (number | null)[]): number | null {
  const sorted = values.filter((value) => value !== null).sort((a, b) => a - b);
  if (sorted.length === 0) return null;
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

export const rounded = (value: number | null, digits: number): number | null =>
  value === null ? null : Number(value.toFixed(digits));

/** What one target did in one cell of one round. Times in milliseconds. */
export interface Sample {
  readonly requests: number;
  readonly failures: number;
  readonly wallMs: number;
  readonly latencyMs: readonly number[];
  /** To the first byte of the body. */
  readonly firstByteMs: readonly number[];
  /** From a token's leaving the engine to its arrival at the client; empty unless paced. */
  readonly tokenDelayMs: readonly number[];
  /** CPU of the target's process in the round; `null` where it cannot be read. */
  readonly cpuMs: number | null;
  readonly natsCpuMs: number | null;
  readonly clientCpuMs: number | null;
  readonly engineCpuMs: number | null;
}

export interface Measured {
  readonly requestsPerSecond: number | null;
  readonly latencyMs: Percentiles;
  readonly addedMs: Percentiles;
  readonly firstByteMs: Omit<Percentiles, 'p95'>;
  readonly firstByteAddedMs: Omit<Percentiles, 'p95'>;
  readonly perTokenDelayMs: Omit<Percentiles, 'p95'> | null;
  readonly cpuMsPerRequest: number | null;
  readonly natsCpuMsPerRequest: number | null;
  /** Of the processes that every target has around it. */
  readonly clientCpuMsPerRequest: number | null;
  readonly engineCpuMsPerRequest: number | null;
  readonly failures: number;
}

export interface Percentiles {
  readonly p50: number | null;
  readonly p95: number | null;
  readonly p99: number | null;
}

type TimesOf = (sample: Sample) => readonly number[];

/**
 * Medians over the rounds. `direct[i]` is the direct sample of the same round as `samples[i]`: what a target adds is taken
 * inside a round, at the same percentile, before the median.
 */
export function measured(samples: readonly Sample[], direct: readonly Sample[]): Measured {
  const at = (times: TimesOf, share: number): number | null =>
    rounded(median(samples.map((sample) => percentile(times(sample), share))), 3);
  const addedAt = (times: TimesOf, share: number): number | null => {
    const differences = samples.map((sample, round) => {
      const own = percentile(times(sample), share);
      const base = direct[round] ? percentile(times(direct[round]), share) : null;
      return own === null || base === null ? null : own - base;
    });
    return rounded(median(differences), 3);
  };
  const perRequest = (cpu: (sample: Sample) => number | null): number | null =>
    rounded(median(samples.map((sample) => share(cpu(sample), sample.requests))), 3);
  const latency: TimesOf = (sample) => sample.latencyMs;
  const firstByte: TimesOf = (sample) => sample.firstByteMs;
  const tokenDelay: TimesOf = (sample) => sample.tokenDelayMs;
  return {
    requestsPerSecond: rounded(median(samples.map(({ latencyMs, wallMs }) => (latencyMs.length * 1000) / wallMs)), 1),
    latencyMs: { p50: at(latency, 0.5), p95: at(latency, 0.95), p99: at(latency, 0.99) },
    addedMs: { p50: addedAt(latency, 0.5), p95: addedAt(latency, 0.95), p99: addedAt(latency, 0.99) },
    firstByteMs: { p50: at(firstByte, 0.5), p99: at(firstByte, 0.99) },
    firstByteAddedMs: { p50: addedAt(firstByte, 0.5), p99: addedAt(firstByte, 0.99) },
    perTokenDelayMs: samples.some((sample) => sample.tokenDelayMs.length > 0)
      ? { p50: at(tokenDelay, 0.5), p99: at(tokenDelay, 0.99) }
      : null,
    cpuMsPerRequest: perRequest((sample) => sample.cpuMs),
    natsCpuMsPerRequest: perRequest((sample) => sample.natsCpuMs),
    clientCpuMsPerRequest: perRequest((sample) => sample.clientCpuMs),
    engineCpuMsPerRequest: perRequest((sample) => sample.engineCpuMs),
    failures: samples.reduce((sum, { failures }) => sum + failures, 0),
  };
}

const share = (total: number | null, parts: number): number | null =>
  total === null || parts === 0 ? null : total / parts;
