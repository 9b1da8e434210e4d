import type { ServiceReport } from '@hindcast/contracts';
import { settingText, type SettingRow } from '../../core/setting-differences';
import { Badge } from '../../parts/badge';
import { Table } from '../../parts/table';

export interface SettingsTableProps {
  readonly caption: string;
  readonly replicas: readonly ServiceReport[];
  readonly rows: readonly SettingRow[];
}

/** Where replicas differ, the value of each. */
export function SettingsTable({ caption, replicas, rows }: SettingsTableProps) {
  return (
    <Table
      caption={caption}
      className="settings-table"
      narrow="cards"
      columns={[
        { key: 'name', title: 'Name', isHeading: true, cell: ({ name }: SettingRow) => <code>{name}</code> },
        { key: 'value', title: 'Value', isWide: true, cell: (row) => <Value row={row} replicas={replicas} /> },
      ]}
      rows={rows}
      rowKey={({ name }) => name}
    />
  );
}

function Value({ row, replicas }: { readonly row: SettingRow; readonly replicas: readonly ServiceReport[] }) {
  if (!row.differs) return <One setting={row.values[0] ?? null} />;
  return (
    <>
      <Badge tone="warn">differs</Badge>
      <ul className="setting-values">
        {row.values.map((setting, at) => (
          <li key={replicas[at]!.instance}>
            <span className="muted">{replicas[at]!.instance}:</span> <One setting={setting} />
          </li>
        ))}
      </ul>
    </>
  );
}

function One({ setting }: { readonly setting: SettingRow['values'][number] }) {
  const text = settingText(setting);
  const isValue =
    setting !== null && !setting.isSecret && setting.isSet && setting.value !== null && setting.value !== '';
  return isValue ? <code className="setting-value">{text}</code> : <i className="muted">{text}</i>;
}
