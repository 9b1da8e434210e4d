import { useMemo } from 'react';
import { SCORE_RANGE } from '../../core/number';
import { Chart } from '../../charts/chart';
import { hasNumber, type StepMark } from '../../core/step-series';
import type { TimelineEntry } from '../../core/version-timeline';

/** Drift, eval score and hint rate by version; the refused ones are seen, too. A chart without a number is left out. */
export function VersionCharts({ timeline }: { readonly timeline: readonly TimelineEntry[] }) {
  const { places, marks, drift, scores, hints } = useMemo(() => seriesByVersion(timeline), [timeline]);
  const shared = { places, placeNoun: 'version', marks, syncKey: 'versions', kind: 'points' } as const;
  const hasDrift = drift.some(({ values }) => hasNumber(values));
  if (!hasDrift && !hasNumber(scores) && !hasNumber(hints)) return null;
  return (
    <div className="charts">
      {hasDrift && (
        <Chart
          {...shared}
          title="Drift"
          about="How far a version’s own answers to fixed probe prompts have moved from the base model, summed over an answer. KL on the page about training is a mean per token of what was trained."
          unit="nats"
          lines={drift.filter(({ values }) => hasNumber(values))}
          fromZero
        />
      )}
      {hasNumber(scores) && (
        <Chart
          {...shared}
          title="Mean eval score"
          about="Of the judged turns that each version answered, from −1 to 1."
          lines={[{ label: 'mean', values: scores }]}
          range={SCORE_RANGE}
        />
      )}
      {hasNumber(hints) && (
        <Chart
          {...shared}
          title="Hint rate"
          about="Share of the judged turns from which there was something to learn."
          lines={[{ label: 'share', values: hints }]}
          unit="%"
          fromZero
        />
      )}
    </div>
  );
}

function seriesByVersion(timeline: readonly TimelineEntry[]) {
  const rows = [...timeline].reverse().map(({ row }) => row);
  const inState = (states: readonly string[]) =>
    rows.map(({ state, driftNats }) => (states.includes(state) ? driftNats : null));
  return {
    places: rows.map(({ version }) => version),
    marks: rows.flatMap<StepMark>(({ version, state, reason }) =>
      state === 'refused' || state === 'rolled-back' ? [{ version, state, reason }] : [],
    ),
    drift: [
      { label: 'published', values: inState(['base', 'published']) },
      { label: 'refused', values: inState(['refused']) },
      { label: 'rolled back', values: inState(['rolled-back']) },
    ],
    scores: rows.map(({ served }) => served.meanEvalScore),
    hints: rows.map(({ served }) => (served.hintRate === null ? null : served.hintRate * 100)),
  };
}
