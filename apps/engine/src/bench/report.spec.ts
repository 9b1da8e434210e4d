import { median, reportOf, type Speed } from './report';

const speeds = (...walls: number[]): Speed[] => walls.map((wall) => ({ wall, cpu: 2 * wall }));

it('gives medians of each engine, and the median of what each round says of both', () => {
  const measured = { hindcast: speeds(10, 40, 30), 'node-llama-cpp': speeds(10, 10, 20) };
  expect(reportOf([{ params: '1M', batch: 8, measured }])).toEqual({
    rows: [
      { params: '1M', batch: 8, engine: 'hindcast', tokensPerSecond: 30, tokensPerCpuSecond: 60 },
      { params: '1M', batch: 8, engine: 'node-llama-cpp', tokensPerSecond: 10, tokensPerCpuSecond: 20 },
    ],
    ratios: [{ params: '1M', batch: 8, timesNodeLlamaCpp: 1.5, byCpuTime: 1.5 }],
  });
});

it('says nothing of an engine that was not there', () => {
  const { rows, ratios } = reportOf([
    { params: '1M', batch: 1, measured: { hindcast: speeds(7, 8), 'node-llama-cpp': [] } },
  ]);
  expect(rows).toEqual([{ params: '1M', batch: 1, engine: 'hindcast', tokensPerSecond: 8, tokensPerCpuSecond: 15 }]);
  expect(ratios).toEqual([]);
  expect(() => median([])).toThrow('no median');
});
