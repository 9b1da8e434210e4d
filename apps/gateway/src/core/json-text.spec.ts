import fc from 'fast-check';
import { JsonTextReader } from './json-text';

function read(json: string | Buffer, start = 0): { end: number; text: string } {
  const bytes = Buffer.from(json as string);
  const reader = new JsonTextReader(bytes, Buffer.alloc(bytes.length));
  const end = reader.read(start);
  return { end, text: reader.since(0).toString() };
}

/** Any character escaped by its code, some of them. */
const escaped = (text: string, which: readonly boolean[]): string =>
  Array.from({ length: text.length }, (_, unit) => {
    const isEscaped = which[unit % which.length] ?? false;
    return isEscaped
      ? `\\u${text.charCodeAt(unit).toString(16).padStart(4, '0')}`
      : JSON.stringify(text[unit]).slice(1, -1);
  }).join('');

describe('JsonTextReader', () => {
  it.each(['', 'a', 'abc', 'abcd', 'Zürich — Łódź 漢字 🙂', '"\\/\b\f\n\r\t', 'a"b\\'])('reads %j', (text) => {
    const json = JSON.stringify(text);
    expect(read(json)).toEqual({ end: Buffer.byteLength(json), text });
  });

  it.each([
    { json: '"\\u00e9\\u20AC\\ud83d\\ude42\\/"', text: 'é€🙂/' },
    { json: '"\\u0000\\u007f"', text: '\0\x7f' },
  ])('reads codes: $json', ({ json, text }) => expect(read(json)).toEqual({ end: json.length, text }));

  it.each([
    'abc',
    '"abc',
    '"abc\\"',
    '"abc\\',
    '"abc\\u12"',
    '"abc\\u12x4"',
    '"a\\x"',
    '"a\\\n"',
    '"abcd\nefgh"',
    '"abcdef\u0000"',
    '"\\ud83d"',
    '"\\ude42"',
    '"\\ud83d\\u0041"',
    '"\\ud83dabcdef"',
    '"\\ud83d\\ud83d"',
  ])('leaves to others: %j', (json) => expect(read(json).end).toBe(-1));

  it('reads one string after the other', () => {
    const bytes = Buffer.from('"a\\nb" "c"');
    const reader = new JsonTextReader(bytes, Buffer.alloc(bytes.length));
    expect([reader.read(0), reader.filled, reader.read(7), reader.since(0).toString()]).toEqual([6, 3, 10, 'a\nbc']);
  });

  it('is JSON.parse of any string, and refuses what that refuses', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.array(fc.boolean()), (text, which) => {
        const json = `"${escaped(text, which)}"`;
        expect(read(json)).toEqual({ end: Buffer.byteLength(json), text });
      }),
      { numRuns: 500 },
    );
    const unit = fc.constantFrom('"', '\\', 'u', 'n', '0', 'd', '8', '\n', '\x1f', ' ', 'é', '🙂', 'abcd');
    fc.assert(
      fc.property(fc.array(unit, { maxLength: 12 }), (units) => {
        const json = `"${units.join('')}"`;
        const { end, text } = read(json);
        const bytes = Buffer.from(json);
        if (end >= 0) expect(JSON.parse(bytes.subarray(0, end).toString())).toBe(text);
        let parsed: unknown = null;
        try {
          parsed = JSON.parse(json);
        } catch {
          if (end === bytes.length) throw new Error(`${json} is no string`);
        }
        if (typeof parsed === 'string' && Buffer.from(parsed).toString() === parsed)
          expect({ end, text }).toEqual({ end: bytes.length, text: parsed });
      }),
      { numRuns: 3_000 },
    );
  });
});
