/** A committed step as it is reported. */
export interface ReportedStep {
  readonly version: number;
  readonly parent: number;
  /** When it was committed, milliseconds since the epoch. */
  readonly at: number;
  /** By the names of `STEP_METRICS`, and what else the manifest has. */
  readonly metrics: Readonly<Record<string, number>>;
  /** A of each sample, `[R]`; `null` when the record of the step is not there. */
  advantages(): Promise<readonly ArrayLike<number>[] | null>;
}

/** A place where the numbers of steps are shown. May fail at any time: nothing but itself depends on it. */
export interface MetricSink {
  readonly name: string;
  /**
   * Brings it up to date with all steps there are, oldest first: at the start, and after a failure. Each step is shown once, whatever was
   * there before.
   */
  catchUp(steps: readonly ReportedStep[]): Promise<void>;
  /** Shows a new step, the newest of all. */
  report(step: ReportedStep): Promise<void>;
}
