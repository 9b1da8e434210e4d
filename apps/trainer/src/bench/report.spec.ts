import { median, reportOf, type Measured, type Round } from './report';

const answer = (ms: number, peakRssMb = 100): Round[number] => ({ ms, cpuMs: ms, loss: 1, gradNorm: 1, peakRssMb });

const measured = (over: Partial<Measured> = {}): Measured => ({
  size: '3.5M',
  tokens: 2000,
  hindcast: [[answer(400, 300), answer(500, 320), answer(600, 310)], [answer(1000)]],
  pytorch: [[answer(1000, 640)], [answer(3000, 600)]],
  matmulMs: [400, 700],
  leastMs: 800,
  ...over,
});

const run = { threads: 2, rounds: 2, pytorch: '2.0' };

describe('reportOf', () => {
  it('takes the median step of a round, and the median ratio of rounds that ran in turn', () => {
    const { ratios, rows } = reportOf([measured()], run);
    // 1000/500 in the first round, 3000/1000 in the second.
    expect(ratios).toEqual({ '3.5M': 2.5 });
    expect(rows).toEqual([
      { size: '3.5M', engine: 'hindcast', tokensPerSecond: 2667, peakRssMb: 320 },
      { size: '3.5M', engine: 'pytorch', tokensPerSecond: 1000, peakRssMb: 640 },
    ]);
  });

  it('compares the largest memory of either engine', () => {
    expect(reportOf([measured()], run).memoryRatios).toEqual({ '3.5M': 0.5 });
  });

  it('says what a step would be that is nothing but what it cannot do without', () => {
    // 2000 is the median of PyTorch's rounds.
    expect(reportOf([measured()], run).ceilings).toEqual({ '3.5M': 2.5 });
    expect(reportOf([measured({ pytorch: [], leastMs: null })], run).ceilings).toEqual({ '3.5M': null });
  });

  it('says the least share of all sizes, and each beside it', () => {
    const other = measured({ size: '11M', matmulMs: [250, 500] });
    const { matmulShare, matmulShares } = reportOf([measured(), other], run);
    expect(matmulShares).toEqual({ '3.5M': 0.75, '11M': 0.5 });
    expect(matmulShare).toBe(0.5);
  });

  it('has no number for an engine that is not there', () => {
    const { rows, ratios, memoryRatios } = reportOf([measured({ pytorch: [] })], { ...run, pytorch: null });
    expect(rows[1]).toEqual({ size: '3.5M', engine: 'pytorch', tokensPerSecond: null, peakRssMb: null });
    expect(ratios).toEqual({ '3.5M': null });
    expect(memoryRatios).toEqual({ '3.5M': null });
  });
});

it.each([
  { values: [3, 1, 2], middle: 2 },
  { values: [4, 1, 3, 2], middle: 2.5 },
])('the median of $values is $middle', ({ values, middle }) => expect(median(values)).toBe(middle));
