import fc from 'fast-check';
import { float32 } from './testing/messages';
import { EncodedIds, EncodedLogProbs, decodeIds, decodeLogProbs, encodeIds, encodeLogProbs } from './typed-array';

const ids = fc.array(fc.nat(0x7fffffff));
const logProbs = fc.array(fc.float({ max: 0, noNaN: true, noDefaultInfinity: true }));
const wire = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;
const bits = (array: Float32Array): number[] => [...new Uint32Array(array.buffer, array.byteOffset, array.length)];

describe('ids', () => {
  it('come back exactly', () => {
    fc.assert(
      fc.property(ids, (values) => expect([...decodeIds(EncodedIds.parse(wire(encodeIds(values))))]).toEqual(values)),
    );
  });
  it.each([[-1], [1.5], [Number.NaN], [Infinity], [2 ** 31], [null as unknown as number]])('refuse %p', (id) => {
    expect(() => encodeIds([1, id])).toThrow(RangeError);
  });
  it.each(Array.from({ length: 19 }, (_, place) => ({ place })))(
    'refuse a negative id wherever it is: $place of 19',
    ({ place }) => {
      const ids = new Int32Array(19).fill(7);
      expect(() => encodeIds(ids)).not.toThrow();
      ids[place] = -1;
      expect(() => encodeIds(ids)).toThrow(`token id -1 at position ${place}`);
    },
  );
  it('refuse a negative id on the wire', () => {
    const base64 = Buffer.from(Int32Array.of(1, -1).buffer).toString('base64');
    expect(EncodedIds.safeParse({ dtype: 'int32', length: 2, base64 }).success).toBe(false);
  });
});

describe('log-probs', () => {
  it('come back bit by bit', () => {
    fc.assert(
      fc.property(logProbs, (values) => {
        const array = Float32Array.from(values);
        expect(bits(decodeLogProbs(EncodedLogProbs.parse(wire(encodeLogProbs(array)))))).toEqual(bits(array));
      }),
    );
  });
  it('keep −0, denormals and the ends of the range', () => {
    const array = Float32Array.of(-0, 0, -1.401298464324817e-45, -1.1754942106924411e-38, -3.4028234663852886e38);
    expect(bits(decodeLogProbs(wire(encodeLogProbs(array))))).toEqual(bits(array));
  });
  it('are little-endian float32', () => {
    expect(encodeLogProbs([-0.5])).toEqual({
      dtype: 'float32',
      length: 1,
      base64: Buffer.from([0, 0, 0, 0xbf]).toString('base64'),
    });
  });
  it.each([[Number.NaN], [-Infinity], [Infinity], [0.01], [undefined as unknown as number]])(
    'refuse %p on both sides',
    (value) => {
      expect(() => encodeLogProbs([-1, value])).toThrow(RangeError);
      const base64 = float32([-1, value]);
      expect(EncodedLogProbs.safeParse({ dtype: 'float32', length: 2, base64 }).success).toBe(false);
      expect(() => decodeLogProbs({ dtype: 'float32', length: 2, base64 })).toThrow(RangeError);
    },
  );
  it('refuse what is too large for float32', () => {
    expect(() => encodeLogProbs([-1e39])).toThrow(RangeError);
  });
});

it('refuses arrays that are not what they claim', () => {
  fc.assert(
    fc.property(logProbs, fc.integer({ min: -3, max: 3 }), (values, error) => {
      fc.pre(error !== 0 && values.length + error >= 0);
      const encoded = encodeLogProbs(values);
      expect(EncodedLogProbs.safeParse({ ...encoded, length: encoded.length + error }).success).toBe(false);
    }),
  );
  const encoded = encodeLogProbs([-1, -2]);
  for (const broken of [
    { ...encoded, dtype: 'int32' },
    { ...encoded, dtype: 'float64' },
    { ...encoded, length: 1.5 },
    { ...encoded, base64: `${encoded.base64.slice(0, -1)}!` },
    { ...encoded, base64: encoded.base64.slice(0, -2) },
    { ...encoded, extra: 1 },
    [-1, -2],
    null,
  ]) {
    expect(EncodedLogProbs.safeParse(broken).success).toBe(false);
  }
  expect(EncodedIds.safeParse(encoded).success).toBe(false);
});
