import { useState } from 'react';
import { counted, numberText, percent } from '../../core/number';
import { FEW_TURNS, type TimelineEntry } from '../../core/version-timeline';
import { Badge } from '../../parts/badge';
import { Button } from '../../parts/button';
import { Table, type Column } from '../../parts/table';
import { Time } from '../../parts/time';
import { Link } from '../../router/link';
import { StateBadge } from './state-badge';

export interface VersionTableProps {
  readonly timeline: readonly TimelineEntry[];
  readonly onRollBack: (entry: TimelineEntry) => void;
}

const SHOWN_AT_FIRST = 15;

export function VersionTable({ timeline, onRollBack }: VersionTableProps) {
  const [isWhole, setWhole] = useState(false);
  const isLong = timeline.length > SHOWN_AT_FIRST * 1.25;
  const columns: Column<TimelineEntry>[] = [
    { key: 'version', title: 'Version', isHeading: true, cell: ({ row }) => <b className="number">{row.version}</b> },
    { key: 'state', title: 'State', cell: (entry) => <State entry={entry} /> },
    { key: 'at', title: 'Made', cell: ({ row }) => <Time at={row.at} /> },
    { key: 'parent', title: 'From', isNumber: true, cell: ({ row }) => row.parent ?? '–' },
    {
      key: 'trained',
      title: 'Trained on',
      isNumber: true,
      cell: ({ row }) => (row.version === 0 ? '–' : counted(row.trainedTurns, 'turn')),
    },
    {
      key: 'drift',
      title: 'Drift, nats',
      isNumber: true,
      cell: ({ row }) => numberText(row.driftNats),
    },
    {
      key: 'served',
      title: 'Answered',
      isNumber: true,
      cell: ({ row }) =>
        row.served.turns === 0 ? (
          '0 turns'
        ) : (
          <Link to={`/ui/turns?version=${row.version}`}>{counted(row.served.turns, 'turn')}</Link>
        ),
    },
    { key: 'score', title: 'Mean eval score', isNumber: true, cell: ({ row }) => <Score served={row.served} /> },
    { key: 'hints', title: 'Hint rate', isNumber: true, cell: ({ row }) => percent(row.served.hintRate, 0) },
    {
      key: 'actions',
      title: 'Way back',
      cell: (entry) =>
        entry.canRollBackTo ? (
          <Button onClick={() => onRollBack(entry)} aria-label={`Roll back to ${nameOf(entry)}`}>
            Roll back…
          </Button>
        ) : entry.isDeleted ? (
          <span className="muted" title="KEEP_VERSIONS of the trainer says how many versions keep theirs">
            its weights are deleted
          </span>
        ) : null,
    },
  ];
  return (
    <>
      <Table
        caption="Versions"
        className="versions"
        columns={columns}
        rows={isLong && !isWhole ? timeline.slice(0, SHOWN_AT_FIRST) : timeline}
        rowKey={({ row }) => row.version}
        narrow="cards"
      />
      {isLong && (
        <Button kind="quiet" aria-expanded={isWhole} onClick={() => setWhole(!isWhole)}>
          {isWhole ? 'Show fewer' : `Show ${timeline.length - SHOWN_AT_FIRST} more of this page`}
        </Button>
      )}
    </>
  );
}

export const nameOf = ({ row }: TimelineEntry): string =>
  row.version === 0 ? 'the base model' : `version ${row.version}`;

function State({ entry: { row, role, share } }: { readonly entry: TimelineEntry }) {
  return (
    <div className="version-state">
      {role === 'serving' && (
        <Badge tone="accent">serves{share !== null && share < 1 ? ` ${percent(share, 0)}` : ''}</Badge>
      )}
      {role === 'on-trial' && <Badge tone="accent">on trial, {percent(share, 0)}</Badge>}
      <StateBadge state={row.state} />
      {row.reason !== null && <div className="version-reason">{row.reason}</div>}
    </div>
  );
}

function Score({ served: { judged, meanEvalScore } }: { readonly served: TimelineEntry['row']['served'] }) {
  if (meanEvalScore === null) return <span className="muted">none judged</span>;
  return (
    <span>
      {numberText(meanEvalScore, 3)}{' '}
      <span className="muted" title={judged < FEW_TURNS ? 'Few turns: the mean says little' : undefined}>
        n = {judged}
        {judged < FEW_TURNS && ' (few)'}
      </span>
    </span>
  );
}
