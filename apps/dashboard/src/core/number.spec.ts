import { counted, decimal, percent, short, shortId, signed, whole } from './number';

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
