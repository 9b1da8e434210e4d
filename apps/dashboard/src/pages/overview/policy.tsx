import type { LedgerOverview, Overview } from '@hindcast/contracts';
import { percent, whole } from '../../core/number';
import { Section } from '../../parts/page';
import { Stat, Stats } from '../../parts/stat';
import { Time } from '../../parts/time';
import { Link } from '../../router/link';

/** The loop counts versions that were taken back later, too. */
function publishedNote({ status, flow }: LedgerOverview): string {
  const takenBack = Math.max(0, flow.published - status.versionsPublished);
  return `of ${whole(status.steps)} steps${takenBack === 0 ? '' : `; ${whole(takenBack)} more rolled back`}`;
}

/** Which version serves, and which one is on trial. */
export function Policy({ overview: { policy, ledger } }: { readonly overview: Overview }) {
  const { version, adapter, since, canary } = policy;
  return (
    <Section title="Policy" actions={<Link to="/ui/policies">All versions</Link>}>
      <Stats>
        <Stat
          label="Serving"
          value={`Version ${version}`}
          note={
            since === 0 ? (
              'the base model'
            ) : (
              <>
                since <Time at={since} />
              </>
            )
          }
        />
        {canary !== null && (
          <Stat
            label="On trial"
            value={`Version ${canary.version}`}
            note={
              <>
                {percent(canary.share, 0)} of the sessions, since <Time at={canary.at} />
              </>
            }
          />
        )}
        <Stat
          label="Published"
          value={ledger === null ? '–' : whole(ledger.status.versionsPublished)}
          note={ledger === null ? undefined : publishedNote(ledger)}
        />
      </Stats>
      <p className="muted">
        {adapter === null ? (
          'Answered under the base model’s name.'
        ) : (
          <>
            Answered under the name <code>{adapter}</code>.
          </>
        )}
        {canary === null && ' No version is on trial.'}
      </p>
    </Section>
  );
}
