import { ownMetrics } from './step-metrics-table';

/** A committed step, as far as its line in `metrics.jsonl` has it. */
export interface StepLine {
  readonly version: number;
  readonly parent: number;
  /** When it was committed, milliseconds since the epoch. */
  readonly at: number;
  readonly metrics: Readonly<Record<string, number>>;
}

/** One step as one line of JSON, its numbers beside `version`, `parent` and `time` (ISO 8601). */
export function stepLine({ version, parent, at, metrics }: StepLine): string {
  const time = new Date(at).toISOString();
  return `${JSON.stringify({ version, parent, time, ...Object.fromEntries(ownMetrics(metrics)) })}\n`;
}

/**
 * What `metrics.jsonl` should be: one line per step in the order of versions. Lines that are there stay as they are; the second of a
 * version, and what is no line (a killed process, a full disk), goes; steps that have none get theirs.
 */
export function completedLines(text: string, steps: readonly StepLine[]): string {
  const lines = new Map<number, string>();
  for (const line of text.split('\n')) {
    const version = versionOf(line);
    if (version !== null && !lines.has(version)) lines.set(version, `${line}\n`);
  }
  for (const step of steps) if (!lines.has(step.version)) lines.set(step.version, stepLine(step));
  return [...lines]
    .sort(([a], [b]) => a - b)
    .map(([, line]) => line)
    .join('');
}

function versionOf(line: string): number | null {
  try {
    const { version } = JSON.parse(line) as { version: unknown };
    return typeof version === 'number' ? version : null;
  } catch {
    return null;
  }
}
