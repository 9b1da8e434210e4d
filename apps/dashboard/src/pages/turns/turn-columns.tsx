import type { TurnRow } from '@hindcast/contracts';
import { shortId, whole } from '../../core/number';
import { missingTexts } from '../../core/turn-words';
import { reasonText } from '../../core/reasons';
import type { Column } from '../../parts/table';
import { Time } from '../../parts/time';
import { CaseBadge, Score, StateBadge } from '../../parts/turn-badges';
import { Link } from '../../router/link';

export const columns: readonly Column<TurnRow>[] = [
  { key: 'time', title: 'Captured', cell: ({ createdAt }) => <Time at={createdAt} /> },
  { key: 'state', title: 'State', cell: ({ state }) => <StateBadge state={state} /> },
  {
    key: 'text',
    title: 'Request and answer',
    isHeading: true,
    isWide: true,
    cell: (turn) => {
      const { turnId, request, answer } = turn;
      const missing = missingTexts(turn);
      return (
        <div className="turns-text">
          <Link to={`/ui/turns/${turnId}`}>{oneLine(request) || `${missing.request} ${shortId(turnId)}`}</Link>
          <span title={answer === null ? missing.answer : undefined}>
            {answer === null ? missing.answer : oneLine(answer)}
          </span>
        </div>
      );
    },
  },
  {
    key: 'case',
    title: 'Case',
    cell: ({ case: gate, reason }) =>
      gate === null && reason === null ? null : (
        <span className="turns-case">
          {gate !== null && <CaseBadge gate={gate} />}
          {reason !== null && <span title={reasonText(reason) ?? undefined}>{reason}</span>}
        </span>
      ),
  },
  { key: 'score', title: 'Score', cell: ({ evalScore }) => (evalScore === null ? null : <Score value={evalScore} />) },
  { key: 'reward', title: 'Reward', cell: ({ reward }) => (reward === null ? null : <Score value={reward} />) },
  { key: 'hint', title: 'Hint', cell: ({ hasHint }) => (hasHint ? 'yes' : null) },
  {
    key: 'tokens',
    title: 'Tokens',
    isNumber: true,
    cell: ({ completionTokens }) => (completionTokens === null ? null : whole(completionTokens)),
  },
  { key: 'version', title: 'Version', isNumber: true, cell: ({ policyVersion }) => policyVersion },
  { key: 'trained', title: 'Trained', isNumber: true, cell: ({ trainedIn }) => trainedIn },
  {
    key: 'tenant',
    title: 'Tenant',
    cell: ({ tenant }) => (
      <span className="turns-tenant" title={tenant}>
        {tenant}
      </span>
    ),
  },
];

const oneLine = (text: string | null): string => (text ?? '').replace(/\s+/g, ' ').trim();
