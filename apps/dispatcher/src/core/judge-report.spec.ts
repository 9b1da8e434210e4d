import { daysUntil, judgeReport, type JudgeCount } from './judge-report';

const day = '2026-12-01';
const count = (fact: string, name: string, n: number, total = 0, of = day): JudgeCount => ({
  day: of,
  fact,
  name,
  count: n,
  total,
});

it('lists the days to today, oldest first, over the end of a month', () => {
  expect(daysUntil(new Date('2026-12-01T00:00:00.000Z'), 3)).toEqual(['2026-11-29', '2026-11-30', '2026-12-01']);
});

it('a day without counts is all zeros, and of what is not known there is nothing', () => {
  const report = judgeReport([day], []);
  expect(report.days).toEqual([
    {
      day,
      turns: 0,
      votes: 0,
      abstained: 0,
      meanScore: null,
      latencyP50Ms: null,
      latencyP95Ms: null,
      tokens: 0,
      cost: null,
    },
  ]);
  expect(report).toMatchObject({ votes: [], abstentions: [], agreement: { turns: 0, unanimous: 0 }, human: [] });
});

it('adds up a day, and leaves other days out', () => {
  const report = judgeReport(
    [day],
    [
      count('judged', 'hinted', 3),
      count('judged', 'unhinted', 1),
      count('eval', '1', 6),
      count('eval', '-1', 2),
      count('hint', '-1', 3),
      count('eval-abstained', 'timeout', 1),
      count('score', '', 4, 2),
      count('tokens', '', 12, 1_200),
      count('cost', '', 2, 0.5),
      count('agreement', 'unanimous', 3),
      count('agreement', 'split', 1),
      count('human', '1 -1', 1),
      count('human', '-1 -1', 0),
      count('eval', '0', 100, 0, '2026-11-30'),
    ],
  );
  expect(report.days[0]).toMatchObject({ turns: 4, votes: 12, abstained: 1, meanScore: 0.5, tokens: 1_200, cost: 0.5 });
  expect(report.votes).toEqual([
    { kind: 'eval', score: -1, count: 2 },
    { kind: 'eval', score: 1, count: 6 },
    { kind: 'hint', score: -1, count: 3 },
  ]);
  expect(report.abstentions).toEqual([{ kind: 'eval', reason: 'timeout', count: 1 }]);
  expect(report.agreement).toEqual({ turns: 4, unanimous: 3 });
  expect(report.human).toEqual([{ judge: 1, person: -1, count: 1 }]);
});

it('percentiles are the latency that so many did not exceed, in the order of numbers', () => {
  const latencies = [count('latency', '90', 1), count('latency', '1000', 9), count('latency', '200', 10)];
  expect(judgeReport([day], latencies).days[0]).toMatchObject({ latencyP50Ms: 200, latencyP95Ms: 1_000 });
  expect(judgeReport([day], [count('latency', '0', 1)]).days[0]).toMatchObject({ latencyP50Ms: 0, latencyP95Ms: 0 });
});
