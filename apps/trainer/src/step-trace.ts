import type { TraceContext } from '@hindcast/contracts';
import { startSpan, startTrace, within, type Span } from '@hindcast/platform';
import type { Manifest } from './core/manifest';
import type { TrainingSample } from './core/training-sample';

/** A sample is there. Ended at once: it may wait for hours, and what comes later still has something to belong to. */
export function arrived({ turnId, case: gateCase, policyVersion }: TrainingSample): TraceContext | null {
  const attributes = {
    'hindcast.turn.id': turnId,
    'hindcast.case': gateCase,
    'hindcast.policy.version': policyVersion,
  };
  const span = startSpan('arrive', { attributes });
  span.end();
  return span.context;
}

/**
 * A step belongs to many turns: it has a trace of its own, with a link to each of theirs, and each of theirs ends with a link to the step
 * that trained it.
 */
export async function inStep(
  batch: readonly TrainingSample[],
  take: () => Promise<Manifest | null>,
): Promise<{ readonly manifest: Manifest | null; readonly step: Span }> {
  const attributes = { 'hindcast.step.samples': batch.length };
  const step = startTrace('step', { attributes, links: batch.map(({ trace }) => trace) });
  const manifest = await within(step, async () => {
    const taken = await take();
    step.set({ 'hindcast.policy.version': taken?.version });
    return taken;
  });
  if (manifest) for (const sample of batch) trained(sample, step, manifest);
  return { manifest, step };
}

function trained({ turnId, trace }: TrainingSample, step: Span, { version }: Manifest): void {
  const attributes = { 'hindcast.turn.id': turnId, 'hindcast.trained.in': version };
  startSpan('trained', { attributes, links: [step.context] }, trace ?? null).end();
}
