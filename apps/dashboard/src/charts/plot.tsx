// uPlot in React: made when it is mounted or its shape changes, given new data otherwise, as wide as its container, destroyed cleanly.
import { useEffect, useLayoutEffect, useRef } from 'react';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import type { SeriesValues } from '../core/step-series';
import { plotOptions, type PlotLine, type PlotMark } from './plot-options';
import { useChartColours } from './theme-colours';
import './chart.css';

export interface PlotProps {
  /** Places, ascending, `[n]`. */
  readonly x: readonly number[];
  readonly lines: readonly PlotLine[];
  /** `[lines][n]` */
  readonly values: readonly SeriesValues[];
  /** Which lines are not drawn, `[lines]`. */
  readonly hidden: readonly boolean[];
  readonly marks: readonly PlotMark[];
  readonly placeText: (x: number) => string;
  readonly syncKey: string | undefined;
  readonly fromZero: boolean;
  readonly range?: readonly [number, number] | undefined;
  /** Place under the cursor, an index of `x`; `null` when it left. */
  readonly onCursor: (at: number | null) => void;
}

const HEIGHT = 200;

export function Plot({ x, lines, values, hidden, marks, placeText, syncKey, fromZero, range, onCursor }: PlotProps) {
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const colours = useChartColours();
  // What the plot reads when it draws, without being made anew for it.
  const live = useRef({ x, values, hidden, marks, placeText, onCursor });
  useLayoutEffect(() => {
    live.current = { x, values, hidden, marks, placeText, onCursor };
  });
  const shape = JSON.stringify(lines);
  const bounds = range === undefined ? '' : JSON.stringify(range);

  useEffect(() => {
    const element = box.current!;
    const options = plotOptions(
      {
        lines: JSON.parse(shape) as PlotLine[],
        colours,
        syncKey,
        fromZero,
        range: bounds === '' ? undefined : (JSON.parse(bounds) as [number, number]),
        placeText: (place) => live.current.placeText(place),
        marks: () => live.current.marks,
        onCursor: (at) => live.current.onCursor(at),
      },
      { width: Math.max(1, element.clientWidth), height: HEIGHT },
    );
    const made = new uPlot(options, dataOf(live.current), element);
    plot.current = made;
    live.current.hidden.forEach((isHidden, at) => isHidden && made.setSeries(at + 1, { show: false }));
    const resize = new ResizeObserver(() => {
      const width = Math.max(1, element.clientWidth);
      if (width !== made.width) made.setSize({ width, height: HEIGHT });
    });
    resize.observe(element);
    return () => {
      resize.disconnect();
      plot.current = null;
      made.destroy();
    };
  }, [shape, colours, syncKey, fromZero, bounds]);

  useEffect(() => {
    plot.current?.setData(dataOf({ x, values }));
  }, [x, values, marks]);

  useEffect(() => {
    hidden.forEach((isHidden, at) => {
      const series = plot.current?.series[at + 1];
      if (series !== undefined && series.show === isHidden) plot.current!.setSeries(at + 1, { show: !isHidden });
    });
  }, [hidden]);

  // The figure around it says in words and as a table what is drawn.
  return <div ref={box} className="plot" aria-hidden="true" />;
}

const dataOf = ({ x, values }: { x: readonly number[]; values: readonly SeriesValues[] }): uPlot.AlignedData =>
  [[...x], ...values.map((line) => [...line])] as uPlot.AlignedData;
