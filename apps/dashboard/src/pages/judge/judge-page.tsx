import type { JudgeStatistics } from '@hindcast/contracts';
import { useState, type FormEvent } from 'react';
import { useAnswer } from '../../api/use-answer';
import { withQuery } from '../../core/route';
import { Answered } from '../../parts/answered';
import { Button } from '../../parts/button';
import { Empty } from '../../parts/empty';
import { Page } from '../../parts/page';
import { Link } from '../../router/link';
import { useQuery } from '../../router/use-query';
import { JudgeCharts } from './judge-charts';
import { JudgeNumbers } from './judge-numbers';
import { PeopleMatrix } from './people-matrix';
import { VotesByValue } from './votes-by-value';
import './judge.css';

const RANGES = [1, 7, 14, 30, 90];
const DEFAULT_RANGE = 14;

/** What the judge voted, how far it can be trusted, how long it takes and what it costs. */
export function JudgePage() {
  const [query, setQuery] = useQuery(['days', 'tenant']);
  const days = RANGES.find((range) => String(range) === query.days) ?? DEFAULT_RANGE;
  const answer = useAnswer<JudgeStatistics>(withQuery('/admin/v1/judge', { days, tenant: query.tenant }), {
    everyMs: 30_000,
    keep: true,
  });
  return (
    <Page
      title="Judge"
      lead="Votes of the judge, how far it agrees with itself and with people, how long it takes and what it costs. Days are UTC."
      actions={
        <>
          <label className="judge-choice">
            Range
            <select value={days} onChange={({ target }) => setQuery({ days: target.value })}>
              {RANGES.map((range) => (
                <option key={range} value={range}>
                  {range === 1 ? 'today' : `${range} days`}
                </option>
              ))}
            </select>
          </label>
          <TenantChoice key={query.tenant} tenant={query.tenant} onChange={(tenant) => setQuery({ tenant })} />
        </>
      }
    >
      <Answered answer={answer} what="the judge’s statistics" lines={8}>
        {(statistics) => <Statistics statistics={statistics} days={days} />}
      </Answered>
    </Page>
  );
}

function TenantChoice({ tenant, onChange }: { readonly tenant: string; readonly onChange: (tenant: string) => void }) {
  const [text, setText] = useState(tenant);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    onChange(text.trim());
  };
  return (
    <form className="judge-choice" onSubmit={submit}>
      <label className="judge-choice">
        Tenant
        <input value={text} size={12} placeholder="all" onChange={({ target }) => setText(target.value)} />
      </label>
      <Button type="submit">Show</Button>
    </form>
  );
}

function Statistics({ statistics, days }: { readonly statistics: JudgeStatistics; readonly days: number }) {
  const hasVotes = statistics.days.some(({ turns, votes }) => turns > 0 || votes > 0);
  if (
    !hasVotes &&
    statistics.votes.length === 0 &&
    statistics.abstentions.length === 0 &&
    statistics.human.length === 0
  )
    return (
      <Empty title={days === 1 ? 'Nothing was judged today.' : `Nothing was judged in the last ${days} days.`}>
        A turn is judged when the conversation goes on after its answer. <Link to="/">The overview</Link> shows what
        waits.
      </Empty>
    );
  return (
    <>
      <JudgeNumbers statistics={statistics} />
      <div className="judge-sections">
        <VotesByValue kind="eval" statistics={statistics} />
        <VotesByValue kind="hint" statistics={statistics} />
        <PeopleMatrix human={statistics.human} />
      </div>
      <JudgeCharts days={statistics.days} />
    </>
  );
}
