import type { StepRow } from '@hindcast/contracts';
import { marksText, type StepMark } from '../../core/step-series';
import { Table } from '../../parts/table';
import { Time } from '../../parts/time';
import { StateBadge } from '../policies/state-badge';

/** The steps whose versions do not serve, folded until somebody asks; every chart marks them. */
export function MarkedSteps({
  steps,
  marks,
}: {
  readonly steps: readonly StepRow[];
  readonly marks: readonly StepMark[];
}) {
  if (marks.length === 0) return null;
  const times = new Map(steps.map(({ version, at }) => [version, at]));
  return (
    <details className="marked-steps">
      <summary>
        {marksText(marks)} of {steps.length} versions; the charts mark them with ✕ and ↩
      </summary>
      <Table
        caption="Versions that were refused or rolled back"
        narrow="cards"
        columns={[
          {
            key: 'version',
            title: 'Version',
            isHeading: true,
            isNumber: true,
            cell: ({ version }: StepMark) => version,
          },
          { key: 'state', title: 'State', cell: ({ state }) => <StateBadge state={state} /> },
          { key: 'at', title: 'Made', cell: ({ version }) => <Time at={times.get(version) ?? null} /> },
          { key: 'reason', title: 'Reason', isWide: true, cell: ({ reason }) => reason ?? 'none given' },
        ]}
        rows={[...marks].reverse()}
        rowKey={({ version }) => version}
      />
    </details>
  );
}
