import { JudgeStatistics } from '@hindcast/contracts';
import { NOW } from './now';
import { randomOf } from './random';

const DAY_MS = 86_400_000;

/** The last days; on every sixth nothing was judged, and none of the first third has a price. */
export function judgeFixture(days: number): JudgeStatistics {
  if (days === 0) return { days: [], votes: [], abstentions: [], agreement: { turns: 0, unanimous: 0 }, human: [] };
  const random = randomOf(5);
  const judged = Array.from({ length: days }, (_, i) => ({
    day: new Date(NOW - (days - 1 - i) * DAY_MS).toISOString().slice(0, 10),
    turns: 60 + Math.floor(random() * 40),
    votes: 400 + Math.floor(random() * 200),
    abstained: Math.floor(random() * 30),
    meanScore: -0.2 + i * 0.03,
    latencyP50Ms: 500 + random() * 100,
    latencyP95Ms: 1_400 + random() * 400,
    tokens: 400_000 + Math.floor(random() * 90_000),
    cost: i * 3 < days - 2 ? null : 0.3 + random() * 0.1,
  }));
  return JudgeStatistics.parse({
    days: judged.filter((_, i) => i % 6 !== 3),
    votes: [
      { kind: 'eval', score: 1, count: 1_422 },
      { kind: 'eval', score: 0, count: 318 },
      { kind: 'eval', score: -1, count: 1_103 },
      { kind: 'hint', score: 1, count: 1_310 },
      { kind: 'hint', score: -1, count: 1_620 },
    ],
    abstentions: [
      { kind: 'eval', reason: 'unreadable', count: 41 },
      { kind: 'eval', reason: 'timeout', count: 12 },
      { kind: 'hint', reason: 'timeout', count: 9 },
    ],
    agreement: { turns: 960, unanimous: 771 },
    human: [
      { judge: 1, person: 1, count: 34 },
      { judge: 1, person: -1, count: 5 },
      { judge: -1, person: -1, count: 27 },
      { judge: -1, person: 1, count: 3 },
      { judge: 0, person: 1, count: 6 },
    ],
  });
}
