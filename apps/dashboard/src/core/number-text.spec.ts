import { axisLabels, numberText, withUnit } from './number-text';

describe('a number', () => {
  it.each<[number | null, string]>([
    [null, '–'],
    [0, '0'],
    [-0.12345, '−0.1235'],
    [12345.6, '12,350'],
    [0.00001234, '1.234 · 10⁻⁵'],
    [-2e-7, '−2 · 10⁻⁷'],
    [3.5e9, '3.5 · 10⁹'],
    [Number.POSITIVE_INFINITY, 'Infinity'],
  ])('%s reads %s', (value, text) => {
    expect(numberText(value)).toBe(text);
  });

  it('has its unit unless there is none', () => {
    expect(withUnit('2', 'nats')).toBe('2 nats');
    expect(withUnit('2', null)).toBe('2');
    expect(withUnit('–', 'nats')).toBe('–');
  });
});

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
