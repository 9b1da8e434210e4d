import { axisLabels } from './axis-labels';

describe('labels of an axis', () => {
  it.each<[number[], string[]]>([
    [
      [0, 0.5, 1],
      ['0', '0.5', '1.0'],
    ],
    [
      [-0.02, -0.01, 0],
      ['−0.02', '−0.01', '0'],
    ],
    [
      [0, 0.25, 0.5],
      ['0', '0.25', '0.50'],
    ],
    [
      [100, 200],
      ['100', '200'],
    ],
    [
      [10000, 12500],
      ['10.0k', '12.5k'],
    ],
    [
      [0, 2000000],
      ['0', '2M'],
    ],
    [
      [0, 0.00002],
      ['0', '2 · 10⁻⁵'],
    ],
    [[7], ['7']],
    [[0], ['0']],
    [[], []],
  ])('%j are %j', (ticks, labels) => {
    expect(axisLabels(ticks)).toEqual(labels);
  });

  it('bear the rounding of a computer', () => {
    expect(axisLabels([0.1, 0.1 + 0.2])).toEqual(['0.1', '0.3']);
  });
});
