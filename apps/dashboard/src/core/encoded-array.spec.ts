import { encodeIds, encodeNumbers } from '@hindcast/contracts';
import * as fc from 'fast-check';
import { decodeArray } from './encoded-array';

describe('an array on the wire', () => {
  it('gives back every float32, to the bit', () =>
    fc.assert(
      fc.property(fc.float32Array({ noNaN: true, noDefaultInfinity: true, maxLength: 200 }), (numbers) => {
        const decoded = decodeArray(encodeNumbers(numbers));
        expect(decoded).toBeInstanceOf(Float32Array);
        expect([...decoded].every((number, t) => Object.is(number, numbers[t]))).toBe(true);
      }),
    ));

  it('gives back every token id', () =>
    fc.assert(
      fc.property(fc.array(fc.nat(0x7fffffff), { maxLength: 200 }), (ids) => {
        expect([...decodeArray(encodeIds(ids))]).toEqual(ids);
      }),
    ));

  it('a float32 as text and back is the same number', () =>
    fc.assert(
      fc.property(fc.float32Array({ noNaN: true, noDefaultInfinity: true, minLength: 1 }), (numbers) => {
        const [first] = decodeArray(encodeNumbers(numbers));
        expect(Object.is(Number(String(first)), first) || first === 0).toBe(true);
      }),
    ));

  it('is refused when its length is not the stated one', () => {
    expect(() => decodeArray({ dtype: 'int32', length: 2, base64: 'AAAAAA==' })).toThrow(RangeError);
  });
});
