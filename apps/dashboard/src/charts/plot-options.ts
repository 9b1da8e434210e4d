import uPlot from 'uplot';
import { axisLabels } from '../core/axis-labels';
import type { ChartColours } from './theme-colours';

export interface PlotLine {
  readonly label: string;
  /** Place among the colours and dashes. */
  readonly style: number;
  /** `bar`: from 0 to the value, over those before it in the list. `faint`: behind a smoothed line. */
  readonly kind: 'line' | 'faint' | 'bar' | 'points';
}

export interface PlotMark {
  readonly x: number;
  readonly state: 'refused' | 'rolled-back';
}

/** What a plot is made anew for when it changes. */
export interface PlotShape {
  readonly lines: readonly PlotLine[];
  readonly colours: ChartColours;
  /** Charts with the same key move their cursors together. */
  readonly syncKey: string | undefined;
  /** Text of a place on the x axis. */
  readonly placeText: (x: number) => string;
  /** The y axis reaches down to 0. */
  readonly fromZero: boolean;
  /** Ends of the y axis where the values' own bounds are known. */
  readonly range: readonly [number, number] | undefined;
  readonly marks: () => readonly PlotMark[];
  readonly onCursor: (at: number | null) => void;
}

/** Told apart without colour, too; also drawn in the legend. */
export const DASHES: readonly (readonly number[])[] = [[], [8, 4], [2, 3], [10, 3, 2, 3], [4, 6]];

/** Room above the plot, where the signs of marked versions stand whole; CSS pixels. */
const MARKS_HEIGHT = 18;

const FONT = '12px system-ui, sans-serif';

export function plotOptions(shape: PlotShape, size: { width: number; height: number }): uPlot.Options {
  const { lines, colours, syncKey, placeText, fromZero, range, marks, onCursor } = shape;
  const axis = {
    stroke: colours.text,
    font: FONT,
    grid: { stroke: colours.grid, width: 1 },
    ticks: { stroke: colours.grid, width: 1, size: 4 },
  };
  return {
    ...size,
    padding: [MARKS_HEIGHT, 12, 0, 0],
    legend: { show: false },
    cursor: {
      y: false,
      ...(syncKey === undefined ? {} : { sync: { key: syncKey, setSeries: false } }),
      points: { size: 7 },
    },
    scales: {
      x: { time: false, range: (plot, min, max) => xRange(plot.data[0], min, max, lines) },
      y: { range: (_, min, max) => (range === undefined ? yRange(min, max, fromZero) : [...range]) },
    },
    axes: [
      {
        ...axis,
        size: 28,
        space: 64,
        incrs: WHOLE,
        values: (_, ticks) => ticks.map((x) => (Number.isInteger(x) ? placeText(x) : '')),
      },
      { ...axis, space: 32, size: (_, labels) => axisWidth(labels), values: (_, ticks) => axisLabels(ticks) },
    ],
    series: [{}, ...lines.map((line) => seriesOptions(line, colours))],
    hooks: {
      draw: [(plot) => drawMarks(plot, marks(), colours)],
      setCursor: [(plot) => onCursor(plot.cursor.idx ?? null)],
    },
  };
}

/** Places are whole numbers: versions, or days. */
const WHOLE = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000];

function seriesOptions({ label, kind, style }: PlotLine, colours: ChartColours): uPlot.Series {
  const stroke = colours.lines[style % colours.lines.length]!;
  if (kind === 'bar')
    return {
      label,
      stroke,
      fill: stroke,
      width: 0,
      points: { show: false },
      paths: uPlot.paths.bars!({ size: [0.7, 40] }),
    };
  if (kind === 'points')
    return { label, stroke, width: 0, paths: () => null, points: { show: true, size: 7, fill: stroke } };
  if (kind === 'faint') return { label, stroke, width: 1, alpha: 0.35, spanGaps: false, points: { show: false } };
  return {
    label,
    stroke,
    width: 2,
    dash: [...DASHES[style % DASHES.length]!],
    spanGaps: false,
    // A number between two gaps makes no line; without a point it could not be seen.
    points: { show: (plot, series, from, to) => to - from < 40 || isSparse(plot.data[series]!), size: 5, fill: stroke },
  };
}

function isSparse(values: ArrayLike<number | null | undefined>): boolean {
  let numbers = 0;
  for (let at = 0; at < values.length; at += 1) if (values[at] != null) numbers += 1;
  return numbers < values.length / 2;
}

function xRange(
  places: ArrayLike<number>,
  min: number | null,
  max: number | null,
  lines: readonly PlotLine[],
): uPlot.Range.MinMax {
  // uPlot has a range of its own for a single place, which may be far too wide.
  if (places.length === 1) return [places[0]! - 0.6, places[0]! + 0.6];
  if (min === null || max === null) return [0, 1];
  const margin = min === max || lines.some(({ kind }) => kind === 'bar') ? 0.6 : 0;
  return [min - margin, max + margin];
}

function yRange(min: number | null, max: number | null, fromZero: boolean): uPlot.Range.MinMax {
  if (min === null || max === null) return [0, 1];
  const low = fromZero ? Math.min(0, min) : min;
  const high = fromZero ? Math.max(0, max) : max;
  if (low === high) {
    if (low === 0) return [0, 1];
    return [low - Math.abs(low) * 0.1, high + Math.abs(high) * 0.1];
  }
  const margin = (high - low) * 0.08;
  return [fromZero && low === 0 ? 0 : low - margin, fromZero && high === 0 ? 0 : high + margin];
}

/** Wide enough for the longest label, CSS pixels. */
function axisWidth(labels: readonly string[] | null): number {
  const longest = Math.max(1, ...(labels ?? []).map((label) => label.length));
  return Math.max(40, 14 + longest * 7);
}

/** More marks than this in view are signs at the top alone: as many lines would hide what is drawn. */
const MARK_LINES = 12;

/** Vertical lines at versions that do not serve: a cross above refused ones, an arrow back above rolled-back ones. */
function drawMarks(plot: uPlot, marks: readonly PlotMark[], colours: ChartColours): void {
  const { ctx, bbox } = plot;
  const { min, max } = plot.scales['x']!;
  const ratio = uPlot.pxRatio;
  ctx.save();
  ctx.font = `${11 * ratio}px system-ui, sans-serif`;
  ctx.textAlign = 'center';
  ctx.textBaseline = 'bottom';
  ctx.lineWidth = ratio;
  ctx.setLineDash([3 * ratio, 3 * ratio]);
  const inView = marks.filter(({ x }) => min != null && max != null && x >= min && x <= max);
  for (const { x, state } of inView) {
    const left = Math.round(plot.valToPos(x, 'x', true));
    ctx.strokeStyle = ctx.fillStyle = state === 'refused' ? colours.refused : colours.rolledBack;
    if (inView.length <= MARK_LINES) {
      ctx.beginPath();
      ctx.moveTo(left, bbox.top);
      ctx.lineTo(left, bbox.top + bbox.height);
      ctx.stroke();
    }
    ctx.fillText(state === 'refused' ? '✕' : '↩', left, bbox.top - 2 * ratio);
  }
  ctx.restore();
}
