import type { JudgeStatistics, Score } from '@hindcast/contracts';

/** A count of one day, as the ledger keeps it (docs/ledger.md names the facts). */
export interface JudgeCount {
  /** YYYY-MM-DD, UTC. */
  readonly day: string;
  readonly fact: string;
  readonly name: string;
  readonly count: number;
  readonly total: number;
}

type Kind = 'eval' | 'hint';
const KINDS = ['eval', 'hint'] as const;
const DAY_MS = 86_400_000;

/** The last days, today among them, oldest first. */
export const daysUntil = (today: Date, days: number): string[] =>
  Array.from({ length: days }, (_, index) =>
    new Date(today.getTime() - (days - 1 - index) * DAY_MS).toISOString().slice(0, 10),
  );

/** What the counts say of the given days; a day without any is all zeros. */
export function judgeReport(days: readonly string[], counts: readonly JudgeCount[]): JudgeStatistics {
  const byDay = new Map<string, JudgeCount[]>(days.map((day) => [day, []]));
  for (const count of counts) byDay.get(count.day)?.push(count);
  const all = [...byDay.values()].flat();
  const named = (fact: string): [name: string, count: number][] => {
    const sums = new Map<string, number>();
    for (const { fact: of, name, count } of all) if (of === fact) sums.set(name, (sums.get(name) ?? 0) + count);
    return [...sums].filter(([, count]) => count > 0).sort(([a], [b]) => (a < b ? -1 : 1));
  };
  const agreement = new Map(named('agreement'));
  const unanimous = agreement.get('unanimous') ?? 0;
  return {
    days: [...byDay].map(([day, own]) => dayReport(day, own)),
    votes: KINDS.flatMap((kind) => named(kind).map(([name, count]) => ({ kind, score: Number(name) as Score, count }))),
    abstentions: KINDS.flatMap((kind) =>
      named(`${kind}-abstained`).map(([reason, count]) => ({ kind, reason, count })),
    ),
    agreement: { turns: unanimous + (agreement.get('split') ?? 0), unanimous },
    human: named('human').map(([name, count]) => {
      const [judge, person] = name.split(' ').map(Number) as [Score, Score];
      return { judge, person, count };
    }),
  };
}

function dayReport(day: string, counts: readonly JudgeCount[]): JudgeStatistics['days'][number] {
  const sum = (field: 'count' | 'total', ...facts: string[]): number =>
    counts.reduce((total, count) => (facts.includes(count.fact) ? total + count[field] : total), 0);
  const voted = sum('count', ...KINDS);
  const abstained = sum('count', ...KINDS.map((kind: Kind) => `${kind}-abstained`));
  const scored = sum('count', 'score');
  const latencies = counts.filter(({ fact, count }) => fact === 'latency' && count > 0);
  return {
    day,
    turns: sum('count', 'judged'),
    votes: voted + abstained,
    abstained,
    meanScore: scored > 0 ? sum('total', 'score') / scored : null,
    latencyP50Ms: percentile(latencies, 0.5),
    latencyP95Ms: percentile(latencies, 0.95),
    tokens: sum('total', 'tokens'),
    cost: sum('count', 'cost') > 0 ? sum('total', 'cost') : null,
  };
}

/** The smallest latency that at least the given share of the judgements did not exceed; `null` without any. */
function percentile(latencies: readonly JudgeCount[], share: number): number | null {
  const sorted = latencies.map(({ name, count }) => ({ ms: Number(name), count })).sort((a, b) => a.ms - b.ms);
  const wanted = share * sorted.reduce((total, { count }) => total + count, 0);
  let seen = 0;
  for (const { ms, count } of sorted) if ((seen += count) >= wanted) return ms;
  return null;
}
