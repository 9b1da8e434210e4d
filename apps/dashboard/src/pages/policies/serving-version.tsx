import type { CurrentPolicy } from '@hindcast/contracts';
import { useStreamed } from '../../api/events';
import { healthyEngines } from '../../core/health';
import { numberText, percent } from '../../core/number';
import type { TimelineEntry } from '../../core/version-timeline';
import { Badge } from '../../parts/badge';
import { Section } from '../../parts/page';
import { Stat, Stats } from '../../parts/stat';
import { Time } from '../../parts/time';

export interface ServingVersionProps {
  readonly current: CurrentPolicy;
  readonly timeline: readonly TimelineEntry[];
}

/** What answers now, and what is on trial beside it. */
export function ServingVersion({ current, timeline }: ServingVersionProps) {
  const { version, adapter, engines, canary, weights, at } = current;
  const up = healthyEngines(engines, useStreamed('overview')?.engines ?? []);
  const row = timeline.find((entry) => entry.row.version === version)?.row;
  return (
    <Section title="Serves now">
      <Stats>
        <Stat
          label="Version"
          value={version === 0 ? 'Base model' : version}
          note={
            adapter === null ? (
              weights === 'replaced' ? (
                'under the base model’s name'
              ) : undefined
            ) : (
              <code>{adapter}</code>
            )
          }
        />
        <Stat label="Since" value={at === 0 ? 'the start' : <Time at={at} />} />
        {row !== undefined && row.driftNats !== null && (
          <Stat label="Drift from the base model" value={`${numberText(row.driftNats)} nats`} note="per probe answer" />
        )}
        <Stat
          label="Engines that hold it"
          value={up.length}
          note={
            engines.length === 0
              ? undefined
              : engines.map((url) => (
                  <div key={url}>
                    {url}
                    {!up.includes(url) && (
                      <>
                        {' '}
                        <Badge tone="bad">fails its health check</Badge>
                      </>
                    )}
                  </div>
                ))
          }
        />
        {canary !== null && (
          <Stat
            label="On trial"
            value={`Version ${canary.version}`}
            note={
              <>
                <Badge tone="accent">{percent(canary.share, 0)} of the sessions</Badge> since <Time at={canary.at} />
              </>
            }
          />
        )}
      </Stats>
    </Section>
  );
}
