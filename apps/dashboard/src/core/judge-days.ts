import type { JudgeStatistics } from '@hindcast/contracts';
import { ratio } from './judge-agreement';
import type { SeriesValues } from './step-series';

export type JudgeDay = JudgeStatistics['days'][number];
/** A day of the range; `null` where nothing was judged. */
export interface DayPlace {
  /** YYYY-MM-DD, UTC. */
  readonly day: string;
  readonly judged: JudgeDay | null;
}

const DAY_MS = 86_400_000;

/** Every day from the first to the last, in order. One on which nothing was judged is a gap, and its neighbours are no neighbours. */
export function dayPlaces(days: readonly JudgeDay[]): DayPlace[] {
  if (days.length === 0) return [];
  const byDay = new Map(days.map((judged) => [judged.day, judged]));
  const times = days.map(({ day }) => Date.parse(day));
  const first = Math.min(...times);
  const length = Math.round((Math.max(...times) - first) / DAY_MS) + 1;
  return Array.from({ length }, (_, at) => {
    const day = new Date(first + at * DAY_MS).toISOString().slice(0, 10);
    const judged = byDay.get(day);
    return { day, judged: judged === undefined || (judged.turns === 0 && judged.votes === 0) ? null : judged };
  });
}

/** One number per day, `[days]`. */
export const daySeries = (places: readonly DayPlace[], of: (day: JudgeDay) => number | null): SeriesValues =>
  places.map(({ judged }) => (judged === null ? null : of(judged)));

/** What a judged turn of the day cost; `null` where no vote has a price. */
export const costPerTurn = ({ cost, turns }: JudgeDay): number | null => (cost === null ? null : ratio(cost, turns));

export interface JudgeTotals {
  readonly turns: number;
  readonly votes: number;
  readonly abstained: number;
  readonly tokens: number;
  /** `null` where no vote of the range has a price. */
  readonly cost: number | null;
  /** Over the days that have a price. */
  readonly costPerTurn: number | null;
  readonly costPerDay: number | null;
  readonly tokensPerTurn: number | null;
}

export function judgeTotals(days: readonly JudgeDay[]): JudgeTotals {
  const priced = days.filter(({ cost }) => cost !== null);
  const cost = priced.length === 0 ? null : total(priced, (day) => day.cost ?? 0);
  const turns = total(days, (day) => day.turns);
  const tokens = total(days, (day) => day.tokens);
  return {
    turns,
    votes: total(days, (day) => day.votes),
    abstained: total(days, (day) => day.abstained),
    tokens,
    cost,
    costPerTurn:
      cost === null
        ? null
        : ratio(
            cost,
            total(priced, (day) => day.turns),
          ),
    costPerDay: cost === null ? null : ratio(cost, priced.length),
    tokensPerTurn: ratio(tokens, turns),
  };
}

const total = (days: readonly JudgeDay[], of: (day: JudgeDay) => number): number =>
  days.reduce((sum, day) => sum + of(day), 0);
