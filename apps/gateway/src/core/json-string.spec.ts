import fc from 'fast-check';
import { stringEnd } from './json-string';

describe('stringEnd', () => {
  it('finds the end wherever quotes and backslashes stand', () => {
    const unit = fc.constantFrom('"', '\\', 'a', 'a', 'é');
    fc.assert(
      fc.property(fc.string({ unit, maxLength: 200 }), fc.nat(40), (text, filler) => {
        const json = Buffer.from(JSON.stringify('a'.repeat(filler) + text));
        const bytes = Buffer.concat([Buffer.from('["x",'), json, Buffer.from(',"y"]')]);
        expect(stringEnd(bytes, 5, bytes.length)).toBe(5 + json.length);
        expect(stringEnd(bytes, 5, 5 + json.length)).toBe(5 + json.length);
        expect(stringEnd(bytes, 5, 4 + json.length)).toBe(-1);
      }),
      { numRuns: 2_000 },
    );
  });

  it.each(['"', '"a', `"${'a'.repeat(99)}`, '"\\', '"\\"', `"${'a'.repeat(31)}\\`, `"${'a'.repeat(99)}\\"`])(
    'has none: %s',
    (json) => expect(stringEnd(Buffer.from(json), 0, json.length)).toBe(-1),
  );
});
