import fc from 'fast-check';
import { narrowToBfloat16, widenBfloat16 } from './half';

const wide = (bits: Uint16Array): Float32Array => {
  const numbers = new Float32Array(bits.length);
  widenBfloat16(bits, numbers);
  return numbers;
};

it('keeps every bfloat16 through float32 and back', () => {
  // A NaN of any kind comes back as one, with its quiet bit set.
  const bits = Uint16Array.from({ length: 2 ** 16 }, (_, pattern) => pattern);
  const back = narrowToBfloat16(wide(bits));
  const expected = bits.map((pattern) => ((pattern & 0x7fff) > 0x7f80 ? pattern | 0x40 : pattern));
  expect(Buffer.compare(Buffer.from(back.buffer), Buffer.from(expected.buffer))).toBe(0);
});

it.each([
  { from: 1 + 2 ** -8, to: 1, why: 'halfway between 1 and 1 + 2⁻⁷: the even one' },
  { from: 1 + 3 * 2 ** -8, to: 1 + 2 ** -6, why: 'halfway again: the even one is above' },
  { from: 1 + 2 ** -8 + 2 ** -20, to: 1 + 2 ** -7, why: 'a little over halfway' },
  { from: -3.4028234663852886e38, to: -Infinity, why: 'beyond the largest' },
])('rounds $from to $to: $why', ({ from, to }) => {
  expect(wide(narrowToBfloat16(Float32Array.of(from)))).toEqual(Float32Array.of(to));
});

it('rounds to the nearest', () => {
  fc.assert(
    fc.property(fc.float({ noNaN: true, min: 2 ** -100, max: 2 ** 100 }), (x) => {
      const [bits] = narrowToBfloat16(Float32Array.of(x)) as unknown as [number];
      const distance = (pattern: number): number => Math.abs((wide(Uint16Array.of(pattern))[0] as number) - x);
      expect(distance(bits)).toBeLessThanOrEqual(Math.min(distance(bits + 1), distance(bits - 1)));
    }),
  );
});
