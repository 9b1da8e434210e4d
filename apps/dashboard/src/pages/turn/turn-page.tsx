import type { ShownTurn, TurnRow } from '@hindcast/contracts';
import { useAgainOn, useAnswer } from '../../api/use-answer';
import { isLate } from '../../core/turn-words';
import { Answered } from '../../parts/answered';
import { Empty } from '../../parts/empty';
import { Page } from '../../parts/page';
import { Link } from '../../router/link';
import type { PageProps } from '../../routes';
import { Conversation } from './conversation';
import { Decision } from './decision';
import { FeedbackForm } from './feedback-form';
import { Tokens } from './tokens';
import { TurnHead } from './turn-head';
import { Votes } from './votes';
import './turn.css';

const CHANGES = ['turns', 'steps'] as const;
const NEVER = [] as const;

/** Nothing will become of it any more: its tokens, many as they may be, need not be asked for again. */
const isOver = ({ state, case: gate }: TurnRow): boolean =>
  state === 'trained' || state === 'closed' || (state === 'decided' && gate === 'drop');

export function TurnPage({ params }: PageProps) {
  const id = params['id'] ?? '';
  const answer = useAnswer<ShownTurn>(`/admin/v1/turns/${encodeURIComponent(id)}`);
  useAgainOn(answer.data !== null && isOver(answer.data.detail.turn) ? NEVER : CHANGES, answer.again);
  if (answer.failure?.status === 404)
    return (
      <Page title="Turn">
        <Empty title={`The ledger knows no turn ${id}.`}>
          It may have been forgotten on request, or its id is of another system. <Link to="/ui/turns">All turns</Link>
        </Empty>
      </Page>
    );
  return (
    <Page title="Turn" lead={<span className="mono">{answer.data?.detail.turn.turnId ?? id}</span>}>
      <Answered answer={answer} what="the turn" lines={8}>
        {(data) => <Turn answer={data} again={answer.again} />}
      </Answered>
    </Page>
  );
}

function Turn({ answer, again }: { readonly answer: ShownTurn; readonly again: () => void }) {
  const { detail } = answer;
  return (
    <div className="turn">
      <TurnHead turn={detail.turn} detail={detail.detail} />
      <div className="turn-columns">
        <Conversation detail={detail} />
        <Decision detail={detail} />
      </div>
      <Tokens answer={answer} />
      <div className="turn-columns">
        <Votes detail={detail} />
        <FeedbackForm
          turnId={detail.turn.turnId}
          feedback={detail.feedback}
          isLate={isLate(detail.turn)}
          again={again}
        />
      </div>
    </div>
  );
}
