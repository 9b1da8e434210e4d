import type { Overview } from '@hindcast/contracts';
import { healthRows, type HealthRow } from '../../core/health';
import { Badge } from '../../parts/badge';
import { Section } from '../../parts/page';
import { Table, type Column } from '../../parts/table';

const columns: readonly Column<HealthRow>[] = [
  { key: 'name', title: 'Part', isHeading: true, cell: ({ name }) => name },
  { key: 'state', title: 'State', cell: ({ ok }) => <Badge tone={ok ? 'ok' : 'bad'}>{ok ? 'ok' : 'wrong'}</Badge> },
  { key: 'detail', title: 'Detail', isWide: true, cell: ({ detail }) => detail },
];

/** Engines, judge, broker, database and every process, with what is wrong. */
export function Health({ overview }: { readonly overview: Overview }) {
  const rows = healthRows(overview);
  const wrong = rows.filter(({ ok }) => !ok).length;
  return (
    <Section
      title="Health"
      actions={
        wrong === 0 ? <Badge tone="ok">all well</Badge> : <Badge tone="bad">{`${wrong} of ${rows.length} wrong`}</Badge>
      }
    >
      <Table
        caption="Health of every part"
        className="health"
        columns={columns}
        rows={rows}
        rowKey={({ key }) => key}
        narrow="cards"
      />
    </Section>
  );
}
