import type { Metrics } from './metrics';

const OUTCOMES = ['acked', 'retried', 'waited', 'dead', 'terminated', 'returned'] as const;
export type Outcome = (typeof OUTCOMES)[number];

export const settledMessages = (metrics: Metrics) =>
  metrics.counter('messages_total', 'Messages by how their delivery ended', ['subject', 'outcome']);
export const deadLetters = (metrics: Metrics) =>
  metrics.counter('dead_letters_total', 'Messages that failed for good', ['subject', 'code']);

export const newerMessages = (metrics: Metrics) =>
  metrics.counter('newer_messages_total', 'Messages read without members that a newer version added', ['subject']);

/** Shows the counters before there is anything to count, so that the first of a kind already is an increase. */
export function exportDeliveries(metrics: Metrics, subject: string): void {
  const settled = settledMessages(metrics);
  // The subjects of dead letters are as many as can fail; each is counted once there is one.
  if (!subject.endsWith('>')) for (const outcome of OUTCOMES) settled.inc({ subject, outcome }, 0);
  deadLetters(metrics);
  newerMessages(metrics);
}
