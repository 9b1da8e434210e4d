import fc from 'fast-check';
import { longJson } from './json-body';

const filler = 'a long text, "quoted"\n'.repeat(500);
const of = (text: string): unknown => longJson(Buffer.from(text));

describe('longJson', () => {
  it.each([
    { why: 'ASCII', text: 'harvest' },
    { why: 'one byte a character, two in UTF-8', text: 'Zürich' },
    { why: 'two bytes a character', text: 'Łódź — 漢字' },
    { why: 'surrogate pairs', text: '👩‍🌾 𝄞' },
    { why: 'U+FEFF in the text', text: 'a\ufeffb' },
  ])('is JSON.parse: $why', ({ text }) => {
    const body = { text, filler, list: [1, -2.5, 1e300, null, true, { text }] };
    expect(of(JSON.stringify(body))).toEqual(body);
  });

  it('a member __proto__ is one like any other', () => {
    const body = of(`{"__proto__":{"a":1},"filler":${JSON.stringify(filler)}}`) as object;
    expect(Object.keys(body)).toEqual(['__proto__', 'filler']);
    expect(Object.getPrototypeOf(body)).toBe(Object.prototype);
  });

  it('is JSON.parse of any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.json(), (text, json) => {
        const body = `{"text":${JSON.stringify(text)},"json":${json},"filler":${JSON.stringify(filler)}}`;
        expect(of(body)).toEqual(JSON.parse(body));
      }),
      { numRuns: 300 },
    );
  });

  it.each([
    { why: 'short', bytes: Buffer.from('{"a":1}') },
    { why: 'not JSON', bytes: Buffer.from(`{"a":"${filler}`) },
    { why: 'not UTF-8', bytes: Buffer.concat([Buffer.from('{"a":"'), Buffer.alloc(9_000, 0xc3), Buffer.from('"}')]) },
    { why: 'with a byte-order mark', bytes: Buffer.from(`\ufeff${JSON.stringify({ filler })}`) },
  ])('leaves to the server: $why', ({ bytes }) => expect(longJson(bytes)).toBeUndefined());
});
