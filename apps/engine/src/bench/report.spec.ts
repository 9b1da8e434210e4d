import { median, reportOf } from './report';

it('gives medians of each engine, and the median of what each round says of both', () => {
  const measured = { hindcast: [10, 40, 30], 'node-llama-cpp': [10, 10, 20] };
  expect(reportOf([{ params: '1M', batch: 8, measured }])).toEqual({
    rows: [
      { params: '1M', batch: 8, engine: 'hindcast', tokensPerSecond: 30 },
      { params: '1M', batch: 8, engine: 'node-llama-cpp', tokensPerSecond: 10 },
    ],
    ratios: [{ params: '1M', batch: 8, timesNodeLlamaCpp: 1.5 }],
  });
});

it('says nothing of an engine that was not there', () => {
  const { rows, ratios } = reportOf([{ params: '1M', batch: 1, measured: { hindcast: [7, 8], 'node-llama-cpp': [] } }]);
  expect(rows).toEqual([{ params: '1M', batch: 1, engine: 'hindcast', tokensPerSecond: 8 }]);
  expect(ratios).toEqual([]);
  expect(() => median([])).toThrow('no median');
});
