import { useMemo, useState, type ReactNode } from 'react';
import type { PoliciesAnswer } from '../../api/types';
import { useAnswer } from '../../api/use-answer';
import { withQuery } from '../../core/route';
import { rollbackProgress } from '../../core/rollback-progress';
import { versionTimeline, type TimelineEntry } from '../../core/version-timeline';
import { Answered } from '../../parts/answered';
import { Page, Section } from '../../parts/page';
import { Pager } from '../../parts/pager';
import { useQuery } from '../../router/use-query';
import { Compare } from './compare';
import { RollBackDialog } from './roll-back-dialog';
import { RollBackState } from './roll-back-state';
import { ServingVersion } from './serving-version';
import { VersionCharts } from './version-charts';
import { VersionTable } from './version-table';
import './policies.css';

const WATCHING_MS = 2_000;
const RESTING_MS = 30_000;

/** Versions of the policy: what became of each, how its answers were judged, and the way back to one. */
export function PoliciesPage() {
  const [{ before }, setQuery] = useQuery(['before']);
  const [isWatching, setWatching] = useState(false);
  const answer = useAnswer<PoliciesAnswer>(withQuery('/admin/v1/policies', { before, limit: 50 }), {
    on: ['steps'],
    everyMs: isWatching ? WATCHING_MS : RESTING_MS,
    keep: true,
  });
  const wish = answer.data?.rollback ?? null;
  const isUnderWay =
    answer.data !== null && wish !== null && !rollbackProgress(wish.wish, wish.answer, answer.data.current).isOver;
  if (isUnderWay !== isWatching) setWatching(isUnderWay);

  return (
    <Page title="Policies" lead="Versions of the policy, newest first: each step of the trainer makes one.">
      <Answered answer={answer} what="the versions" lines={8}>
        {(data) => (
          <Versions
            data={data}
            onWished={answer.again}
            pager={
              <Pager
                hasOlder={data.next !== null}
                onOlder={() => setQuery({ before: String(data.next) })}
                hasNewer={before !== ''}
                onNewest={() => setQuery({ before: '' })}
                isAsking={answer.isAsking && before !== ''}
              />
            }
          />
        )}
      </Answered>
    </Page>
  );
}

interface VersionsProps {
  readonly data: PoliciesAnswer;
  readonly onWished: () => void;
  readonly pager: ReactNode;
}

function Versions({ data, onWished, pager }: VersionsProps) {
  const { versions, current, rollback, next, kept = null } = data;
  const timeline = useMemo(() => versionTimeline(versions, current, kept), [versions, current, kept]);
  const [target, setTarget] = useState<TimelineEntry | null>(null);
  const [wished, setWished] = useState<string | null>(null);
  const hasMore = next !== null || timeline.length > 1;
  return (
    <>
      <ServingVersion current={current} timeline={timeline} />
      {rollback !== null && <RollBackState {...rollback} current={current} isNew={rollback.wish.id === wished} />}
      <VersionCharts timeline={timeline} />
      <Section
        title="Timeline"
        note={
          hasMore
            ? 'Eval scores lie between −1 and 1; with few judged turns a mean says little: of 20 turns it is uncertain by about 0.2.'
            : 'Only the base model so far: the first step of the trainer makes version 1.'
        }
      >
        <VersionTable timeline={timeline} onRollBack={setTarget} />
        {pager}
      </Section>
      <Compare current={current} versions={versions} />
      <RollBackDialog
        target={target}
        timeline={timeline}
        current={current}
        onClose={() => setTarget(null)}
        onWished={(id) => {
          setWished(id);
          onWished();
        }}
      />
    </>
  );
}
