import { cellName, type Cell, type Target } from './cells';
import { rounded, type Measured } from './statistics';

export interface Row extends Cell, Measured {
  readonly target: Target;
}

/** Hindcast over Portkey in one cell; `null` where a number is missing. */
export interface Ratio {
  readonly cell: string;
  readonly requestsPerSecond: number | null;
  readonly cpuMsPerRequest: number | null;
}

export function ratios(rows: readonly Row[]): Ratio[] {
  return rows
    .filter(({ target }) => target === 'hindcast')
    .flatMap((own) => {
      const other = rows.find((row) => row.target === 'portkey' && cellName(row) === cellName(own));
      if (!other) return [];
      return {
        cell: cellName(own),
        requestsPerSecond: quotient(own.requestsPerSecond, other.requestsPerSecond),
        cpuMsPerRequest: quotient(own.cpuMsPerRequest, other.cpuMsPerRequest),
      };
    });
}

const quotient = (a: number | null, b: number | null): number | null =>
  a === null || b === null || b === 0 ? null : rounded(a / b, 2);

const HEADINGS = [
  'cell',
  'target',
  'req/s',
  'added p50',
  'p95',
  'p99',
  'first byte added p50',
  'p99',
  'token delay p50',
  'p99',
  'CPU ms/req',
  'nats CPU',
  'client CPU',
  'engine CPU',
  'failed',
] as const;

/** The rows as columns of text, cells in the order given, a blank line between two. */
export function table(rows: readonly Row[]): string {
  const lines = rows.map((row) => [
    cellName(row),
    row.target,
    row.requestsPerSecond,
    row.addedMs.p50,
    row.addedMs.p95,
    row.addedMs.p99,
    row.firstByteAddedMs.p50,
    row.firstByteAddedMs.p99,
    row.perTokenDelayMs?.p50 ?? null,
    row.perTokenDelayMs?.p99 ?? null,
    row.cpuMsPerRequest,
    row.natsCpuMsPerRequest,
    row.clientCpuMsPerRequest,
    row.engineCpuMsPerRequest,
    row.failures,
  ]);
  const texts = [HEADINGS, ...lines].map((line) => line.map((value) => (value === null ? '–' : String(value))));
  const widths = HEADINGS.map((_, column) => Math.max(...texts.map((line) => line[column]!.length)));
  const aligned = texts.map((line) =>
    line.map((text, column) => (column < 2 ? text.padEnd(widths[column]!) : text.padStart(widths[column]!))).join('  '),
  );
  return aligned
    .flatMap((line, index) => (index > 1 && texts[index]![0] !== texts[index - 1]![0] ? ['', line] : [line]))
    .join('\n');
}
