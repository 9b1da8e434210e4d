import { useMemo } from 'react';
import { Chart } from '../../charts/chart';
import { ratio } from '../../core/judge-agreement';
import { costPerTurn, dayPlaces, daySeries, type JudgeDay } from '../../core/judge-days';
import { SCORE_RANGE, short } from '../../core/number';
import { hasNumber } from '../../core/step-series';
import { latency } from '../../core/time';

const seconds = (ms: number | null): number | null => (ms === null ? null : ms / 1000);
const inPercent = (share: number | null): number | null => (share === null ? null : share * 100);
const latencyText = (value: number | null): string => (value === null ? '–' : latency(value * 1000));

/** By day; a day on which nothing was judged is a gap. */
export function JudgeCharts({ days }: { readonly days: readonly JudgeDay[] }) {
  const { places, names, charts } = useMemo(() => {
    const byDay = dayPlaces(days);
    const line = (label: string, of: (day: JudgeDay) => number | null) => ({ label, values: daySeries(byDay, of) });
    return {
      places: byDay.map((_, at) => at),
      names: byDay.map(({ day }) => day),
      charts: {
        scores: [line('mean', ({ meanScore }) => meanScore)],
        turns: [line('turns', ({ turns }) => turns)],
        latencies: [
          line('p50', ({ latencyP50Ms }) => seconds(latencyP50Ms)),
          line('p95', ({ latencyP95Ms }) => seconds(latencyP95Ms)),
        ],
        abstained: [line('share', ({ abstained, votes }) => inPercent(ratio(abstained, votes)))],
        costs: [line('a day', ({ cost }) => cost)],
        turnCosts: [line('a turn', costPerTurn)],
        tokens: [line('tokens', ({ tokens }) => tokens)],
      },
    };
  }, [days]);
  if (places.length === 0) return null;
  const shared = {
    places,
    placeNoun: '',
    placeText: (place: number) => names[place]?.slice(5) ?? '',
    syncKey: 'judge-days',
  };
  return (
    <div className="charts">
      <Chart
        {...shared}
        title="Mean score"
        about="Of the turns judged that day, from −1 to 1."
        lines={charts.scores}
        range={SCORE_RANGE}
      />
      <Chart {...shared} title="Turns judged" unit="turns" lines={charts.turns} kind="stack" />
      {charts.latencies.some(({ values }) => hasNumber(values)) && (
        <Chart
          {...shared}
          title="Latency of a vote"
          about="In seconds. p50: half of the votes were faster; p95: 19 of 20."
          lines={charts.latencies}
          valueText={latencyText}
          fromZero
        />
      )}
      {hasNumber(charts.abstained[0]!.values) && (
        <Chart {...shared} title="Abstained" about="Share of the votes." lines={charts.abstained} unit="%" fromZero />
      )}
      {hasNumber(charts.costs[0]!.values) && (
        <>
          <Chart
            {...shared}
            title="Cost per day"
            about="By the judge’s prices, in their currency."
            lines={charts.costs}
            kind="stack"
          />
          <Chart
            {...shared}
            title="Cost per turn"
            about="Of a judged turn, all votes together."
            lines={charts.turnCosts}
            fromZero
          />
        </>
      )}
      <Chart
        {...shared}
        title="Tokens of the judge"
        unit="tokens"
        lines={charts.tokens}
        kind="stack"
        valueText={(value) => (value === null ? '–' : short(value))}
      />
    </div>
  );
}
