import type { SeriesValues, StepMark } from '../core/step-series';
import { Table, type Column } from '../parts/table';

export interface ChartTableProps {
  readonly title: string;
  readonly placeNoun: string;
  readonly placeText: (place: number) => string;
  readonly places: readonly number[];
  readonly lines: readonly { readonly label: string; readonly values: SeriesValues }[];
  readonly marks: readonly StepMark[];
  readonly valueText: (value: number | null) => string;
}

/** The numbers of a chart, newest place first. */
export function ChartTable({ title, placeNoun, placeText, places, lines, marks, valueText }: ChartTableProps) {
  const rows = places.map((place, at) => ({ place, at })).reverse();
  const states = new Map(marks.map(({ version, state }) => [version, state === 'refused' ? 'refused' : 'rolled back']));
  const columns: Column<{ place: number; at: number }>[] = [
    {
      key: 'place',
      title: placeNoun === '' ? 'day' : placeNoun,
      isHeading: true,
      cell: ({ place }) => placeText(place),
    },
    ...lines.map(({ label, values }) => ({
      key: label,
      title: label,
      isNumber: true,
      cell: ({ at }: { at: number }) => valueText(values[at] ?? null),
    })),
  ];
  if (states.size > 0) columns.push({ key: 'state', title: 'version', cell: ({ place }) => states.get(place) ?? '' });
  return (
    <div className="chart-table">
      <Table caption={`${title}, as a table`} columns={columns} rows={rows} rowKey={({ place }) => place} />
    </div>
  );
}
