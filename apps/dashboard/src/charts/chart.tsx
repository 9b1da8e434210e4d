// <Chart title="Loss" places={versions} placeText={…} lines={[{ label: 'total', values }]} />: a figure with its caption, what it shows in
// words (last, lowest, highest), a legend with the values under the cursor that also hides lines, the picture, and the same as a table.
import { useId, useMemo, useState } from 'react';
import { withUnit, numberText } from '../core/number';
import { summaryText } from '../core/series-summary';
import { stacked } from '../core/step-charts';
import { smoothed, withoutRounding, type SeriesValues, type StepMark } from '../core/step-series';
import { ChartTable } from './chart-table';
import { Legend } from './legend';
import { Plot } from './plot';
import type { PlotLine } from './plot-options';

export interface ChartProps {
  readonly title: string;
  /** What it shows, in a sentence. */
  readonly about?: string | undefined;
  /** `null` for a plain number. */
  readonly unit?: string | null;
  /** Whole numbers, ascending, `[n]`. */
  readonly places: readonly number[];
  /** `step 12`, of a place; the axis shows it without `placeNoun`. */
  readonly placeNoun: string;
  readonly placeText?: ((place: number) => string) | undefined;
  readonly lines: readonly { readonly label: string; readonly values: SeriesValues }[];
  /** `stack`: bars on top of each other. `points`: no line between them. */
  readonly kind?: 'lines' | 'stack' | 'points';
  readonly marks?: readonly StepMark[];
  readonly syncKey?: string;
  readonly fromZero?: boolean;
  /** Ends of the y axis where the values' own bounds are known. */
  readonly range?: readonly [number, number];
  /** Weight of the moving average in [0, 1); words, legend and table keep the values as they are. */
  readonly smoothing?: number;
  /** How a value reads. */
  readonly valueText?: (value: number | null) => string;
}

const NO_MARKS: readonly StepMark[] = [];

export function Chart({
  title,
  about,
  unit = null,
  places,
  placeNoun,
  placeText = String,
  lines: given,
  kind = 'lines',
  marks = NO_MARKS,
  syncKey,
  fromZero = false,
  range,
  smoothing = 0,
  valueText = numberText,
}: ChartProps) {
  const id = useId();
  const [cursor, setCursor] = useState<number | null>(null);
  const [hiddenLabels, setHiddenLabels] = useState<readonly string[]>([]);
  const [isTable, setTable] = useState(false);
  const lines = useMemo(() => withoutRounding(given), [given]);
  const hidden = useMemo(() => lines.map(({ label }) => hiddenLabels.includes(label)), [lines, hiddenLabels]);
  const drawn = useMemo(() => drawing(lines, kind, hidden, smoothing), [lines, kind, hidden, smoothing]);
  const plotMarks = useMemo(() => marks.map(({ version, state }) => ({ x: version, state })), [marks]);
  const name = (place: number): string => `${placeNoun} ${placeText(place)}`.trim();
  const at = cursor !== null && cursor < places.length ? cursor : places.length - 1;
  const toggle = (label: string): void =>
    setHiddenLabels((before) =>
      before.includes(label) ? before.filter((each) => each !== label) : [...before, label],
    );

  return (
    <figure className="chart" aria-labelledby={`${id}-title`} aria-describedby={`${id}-words`}>
      <figcaption>
        <h3 id={`${id}-title`}>
          {title}
          {unit !== null && <span className="chart-unit"> {unit}</span>}
        </h3>
        {about !== undefined && <p className="chart-about">{about}</p>}
        <p id={`${id}-words`} className="only-heard">
          {summaryText(lines, places.map(name), unit)}
        </p>
      </figcaption>
      <Legend
        place={places.length > 0 ? name(places[at]!) : ''}
        kind={kind}
        entries={lines.map(({ label, values }, line) => ({
          label,
          text: withUnit(valueText(values[at] ?? null), unit),
          isHidden: hidden[line]!,
        }))}
        onToggle={toggle}
      />
      <Plot
        x={places}
        lines={drawn.lines}
        values={drawn.values}
        hidden={drawn.hidden}
        marks={plotMarks}
        placeText={placeText}
        syncKey={syncKey}
        fromZero={fromZero || kind === 'stack'}
        range={range}
        onCursor={setCursor}
      />
      <button type="button" className="chart-switch" aria-expanded={isTable} onClick={() => setTable(!isTable)}>
        {isTable ? 'Hide the table' : 'Show as table'}
        <span className="only-heard">: {title}</span>
      </button>
      {isTable && (
        <ChartTable
          title={title}
          placeNoun={placeNoun}
          placeText={placeText}
          places={places}
          lines={lines}
          marks={marks}
          valueText={valueText}
        />
      )}
    </figure>
  );
}

interface Drawing {
  readonly lines: readonly PlotLine[];
  readonly values: readonly SeriesValues[];
  readonly hidden: readonly boolean[];
}

function drawing(
  lines: ChartProps['lines'],
  kind: 'lines' | 'stack' | 'points',
  hidden: readonly boolean[],
  smoothing: number,
): Drawing {
  const styled = (plotKind: PlotLine['kind']): PlotLine[] =>
    lines.map(({ label }, style) => ({ label, style, kind: plotKind }));
  const values = lines.map((line) => line.values);
  if (kind === 'stack') {
    const tops = stacked(values.map((line, at) => (hidden[at] ? line.map(() => null) : line)));
    // The highest edge is drawn first, so that the lower ones cover it.
    return { lines: styled('bar').reverse(), values: tops.reverse(), hidden: [...hidden].reverse() };
  }
  if (kind === 'points' || smoothing === 0)
    return { lines: styled(kind === 'points' ? 'points' : 'line'), values, hidden };
  return {
    lines: [...styled('faint'), ...styled('line')],
    values: [...values, ...values.map((line) => smoothed(line, smoothing))],
    hidden: [...hidden, ...hidden],
  };
}
