import type { ServiceReport } from '@hindcast/contracts';
import { Badge } from '../../parts/badge';
import { Table } from '../../parts/table';
import { Time } from '../../parts/time';

/** Health and release of each process of an app. */
export function Replicas({ app, replicas }: { readonly app: string; readonly replicas: readonly ServiceReport[] }) {
  return (
    <Table
      caption={`Processes of ${app}`}
      className="replicas"
      narrow="cards"
      columns={[
        {
          key: 'instance',
          title: 'Process',
          isHeading: true,
          cell: ({ instance }: ServiceReport) => <code>{instance}</code>,
        },
        {
          key: 'ready',
          title: 'State',
          cell: ({ ready }) => <Badge tone={ready ? 'ok' : 'bad'}>{ready ? 'ready' : 'not ready'}</Badge>,
        },
        { key: 'checks', title: 'Checks', isWide: true, cell: ({ checks }) => <Checks checks={checks} /> },
        { key: 'release', title: 'Release', cell: ({ release }) => release },
        { key: 'node', title: 'Node', cell: ({ node }) => node },
        { key: 'started', title: 'Started', cell: ({ startedAt }) => <Time at={startedAt} /> },
      ]}
      rows={replicas}
      rowKey={({ instance }) => instance}
    />
  );
}

function Checks({ checks }: { readonly checks: ServiceReport['checks'] }) {
  if (checks.length === 0) return <span className="muted">none</span>;
  return (
    <ul className="checks">
      {checks.map(({ name, ok, detail }) => (
        <li key={name}>
          {ok ? name : <Badge tone="bad">{name} fails</Badge>}
          {detail !== null && <span className="muted"> {detail}</span>}
        </li>
      ))}
    </ul>
  );
}
