import type { Overview } from '@hindcast/contracts';
import { useStreamed } from '../../api/events';
import { useAnswer } from '../../api/use-answer';
import { Answered } from '../../parts/answered';
import { Page } from '../../parts/page';
import { Books } from './books';
import { Health } from './health';
import { Loop } from './loop';
import { NextStep } from './next-step';
import { Policy } from './policy';
import './overview.css';

export function OverviewPage() {
  const asked = useAnswer<Overview>('/admin/v1/overview');
  const streamed = useStreamed('overview');
  const answer = streamed === undefined ? asked : { ...asked, data: streamed, failure: null };
  return (
    <Page title="Overview" lead="What comes in, what becomes of it, and what it trained.">
      <Answered answer={answer} what="the overview" lines={10}>
        {(overview) => <Content overview={overview} />}
      </Answered>
    </Page>
  );
}

function Content({ overview }: { readonly overview: Overview }) {
  return (
    <>
      {overview.ledger === null && (
        <p className="overview-away" role="alert">
          <strong>The ledger does not answer.</strong> The dispatcher or its database is away, so counts are not known.
          Chats are served all the same, and nothing is lost.
        </p>
      )}
      <Loop overview={overview} />
      <div className="overview-sections">
        <NextStep overview={overview} />
        <Policy overview={overview} />
        <Health overview={overview} />
        {overview.ledger !== null && <Books ledger={overview.ledger} />}
      </div>
    </>
  );
}
