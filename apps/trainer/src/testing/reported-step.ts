import type { ReportedStep } from '../metrics/metric-sink';

/** A committed step of a version, one second after the one before. */
export const reportedStep = (version: number, over: Partial<ReportedStep> = {}): ReportedStep => ({
  version,
  parent: version - 1,
  at: 1_700_000_000_250 + 1000 * version,
  metrics: { 'loss/total': -1 / version, grad_norm: version, drift_nats: 9 },
  advantages: () => Promise.resolve([[0, 1], [version]]),
  ...over,
});
