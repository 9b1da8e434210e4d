import { counted, decimal, numberText, percent, short, shortId, signed, whole, withUnit } from './number';

it('writes whole numbers with groups, and short ones with a letter', () => {
  expect(whole(1_234_567)).toBe('1,234,567');
  expect([short(9_999), short(12_345), short(1_200_000)]).toEqual(['9,999', '12.3K', '1.2M']);
});

it.each([
  [0.5, '+0.500'],
  [-0.5, '−0.500'],
  [0, '0.000'],
  [-0.0001, '0.000'],
  [null, '–'],
])('%p with its sign is “%s”', (value, text) => expect(signed(value)).toBe(text));

it('uses a real minus', () => {
  expect(decimal(-1.25, 2)).toBe('−1.25');
});

it('shows what is missing as a dash, never as zero', () =>
  expect([decimal(null), percent(null), signed(null)]).toEqual(['–', '–', '–']));

it('counts one and many', () =>
  expect([counted(1, 'turn'), counted(2_000, 'turn')]).toEqual(['1 turn', '2,000 turns']));
it('cuts long ids', () => expect([shortId('short'), shortId('0123456789abcdef')]).toEqual(['short', '01234567…']));

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
