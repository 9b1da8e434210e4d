import type { TurnRow } from '@hindcast/contracts';
import { whole } from '../../core/number';
import { reasonText } from '../../core/reasons';
import type { Column } from '../../parts/table';
import { Time } from '../../parts/time';
import { CaseBadge, Score, StateBadge } from '../../parts/turn-badges';
import { Link } from '../../router/link';

const dash = <span className="muted">–</span>;

export const columns: readonly Column<TurnRow>[] = [
  { key: 'time', title: 'Captured', cell: ({ createdAt }) => <Time at={createdAt} /> },
  { key: 'state', title: 'State', cell: ({ state }) => <StateBadge state={state} /> },
  {
    key: 'text',
    title: 'Request and answer',
    isHeading: true,
    isWide: true,
    cell: ({ turnId, request, answer }) => (
      <div className="turns-text">
        <Link to={`/ui/turns/${turnId}`}>{oneLine(request) || turnId}</Link>
        <span>{answer === null ? 'no texts kept' : oneLine(answer)}</span>
      </div>
    ),
  },
  {
    key: 'case',
    title: 'Case',
    cell: ({ case: gate, reason }) => (
      <span className="turns-case">
        {(gate !== null || reason === null) && <CaseBadge gate={gate} />}
        {reason !== null && <span title={reasonText(reason) ?? undefined}>{reason}</span>}
      </span>
    ),
  },
  { key: 'score', title: 'Score', cell: ({ evalScore }) => <Score value={evalScore} /> },
  { key: 'reward', title: 'Reward', cell: ({ reward }) => <Score value={reward} /> },
  { key: 'hint', title: 'Hint', cell: ({ hasHint }) => (hasHint ? 'yes' : dash) },
  {
    key: 'tokens',
    title: 'Tokens',
    isNumber: true,
    cell: ({ completionTokens }) => (completionTokens === null ? dash : whole(completionTokens)),
  },
  { key: 'version', title: 'Version', isNumber: true, cell: ({ policyVersion }) => policyVersion ?? dash },
  { key: 'trained', title: 'Trained', isNumber: true, cell: ({ trainedIn }) => trainedIn ?? dash },
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
