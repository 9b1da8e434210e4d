import type { Overview } from '@hindcast/contracts';
import { counted, whole } from '../../core/number';
import { Meter } from '../../parts/meter';
import { Section } from '../../parts/page';
import { Stat, Stats } from '../../parts/stat';

/** How far the next batch is. */
export function NextStep({ overview: { ledger, batch, method } }: { readonly overview: Overview }) {
  const waiting = ledger?.status.waitingSamples ?? null;
  return (
    <Section title="Next step">
      {waiting !== null && batch !== null && (
        <Meter label="Samples waiting for a step" value={waiting} max={batch.size} />
      )}
      <p>
        {waiting === null ? 'It is not known how many samples wait' : `${counted(waiting, 'sample')} waiting`}
        {batch === null
          ? '; the trainer has not said how many make a batch.'
          : `; a step begins at ${batch.size}${batch.min < batch.size ? `, or with ${batch.min} after a while` : ''}.`}
      </p>
      <Stats>
        <Stat label="Steps" value={ledger === null ? '–' : whole(ledger.status.steps)} />
        <Stat label="Samples trained" value={ledger === null ? '–' : whole(ledger.status.samplesTrained)} />
        <Stat label="Refused" value={ledger === null ? '–' : whole(ledger.flow.refused)} note="by the trainer" />
        <Stat label="Method" value={method ?? '–'} />
      </Stats>
    </Section>
  );
}
