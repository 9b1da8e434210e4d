import fc from 'fast-check';
import { parseAnswerJson, wholeNumbers } from './answer-json';

const many = (entry: string): string => Array(4_000).fill(entry).join(',');
const parse = (text: string): unknown => {
  const parsed = parseAnswerJson(Buffer.from(text)) as { prompt_token_ids?: unknown };
  const { prompt_token_ids: ids } = parsed;
  return ids instanceof Int32Array ? { ...parsed, prompt_token_ids: [...ids] } : parsed;
};

describe('parseAnswerJson', () => {
  it.each([
    { why: 'short ids', text: '{"a":1,"prompt_token_ids":[1,2]}' },
    { why: 'long ids', text: `{"id":"é","prompt_token_ids":[0,${many('151643')}],"b":[1]}` },
    { why: 'ids of one digit', text: `{"prompt_token_ids":[${many('1,2')}]}` },
    { why: 'with spaces', text: `{ "prompt_token_ids" : [ ${many(' 12 ')} ] }` },
    { why: 'a number that is none of an id', text: `{"prompt_token_ids":[${many('12')},1.5,-1,1e3,9007199254740993]}` },
    { why: 'a null among them', text: `{"prompt_token_ids":[${many('12')},null]}` },
    { why: 'another array inside', text: `{"prompt_token_ids":[${many('12')},[1]]}` },
    { why: 'the last of a name counts', text: `{"prompt_token_ids":[${many('12')}],"prompt_token_ids":null}` },
    { why: 'a list', text: `[{"prompt_token_ids":[${many('12')}]}]` },
    { why: 'under another name', text: `{"choices":[{"prompt_token_ids":[${many('12')}]}]}` },
    { why: 'a long text without ids', text: `{"a":"${'x'.repeat(10_000)}"}` },
    { why: 'a text', text: `{"prompt_token_ids":"${many('12')}"}` },
  ])('is JSON.parse, also after a byte-order mark: $why', ({ text }) => {
    expect(parse(text)).toEqual(JSON.parse(text));
    expect(parse(`\ufeff${text}`)).toEqual(JSON.parse(text));
  });

  it('gives every answer ids of its own, which the next does not write over', () => {
    const [first, second] = ['12', '3456'].map(
      (id) => parseAnswerJson(Buffer.from(`{"prompt_token_ids":[${many(id)}]}`)) as { prompt_token_ids: Int32Array },
    );
    expect([first!.prompt_token_ids.at(-1), second!.prompt_token_ids.at(-1)]).toEqual([12, 3456]);
    expect(first!.prompt_token_ids.byteLength).toBe(first!.prompt_token_ids.buffer.byteLength);
  });

  it('decodes nothing where the ids are read by themselves', () => {
    const text = jest.fn();
    parseAnswerJson(Buffer.from(`{"prompt_token_ids":[${many('12')}]}`), { text });
    expect(text).not.toHaveBeenCalled();
  });

  it.each([
    { why: 'a leading zero', text: `{"prompt_token_ids":[${many('12')},012]}` },
    { why: 'zeros', text: `{"prompt_token_ids":[${many('12')},00]}` },
    { why: 'a comma too many', text: `{"prompt_token_ids":[${many('12')},]}` },
    { why: 'a missing comma', text: `{"prompt_token_ids":[${many('12')} 3]}` },
    { why: 'cut', text: `{"prompt_token_ids":[${many('12')}` },
    { why: 'broken elsewhere', text: `{"prompt_token_ids":[${many('12')}],"a":tru}` },
    { why: 'a member too many', text: `{"prompt_token_ids":[${many('12')}],}` },
  ])('refuses $why', ({ text }) => expect(() => parse(text)).toThrow(SyntaxError));

  it.each([
    { why: 'the ids of a vocabulary', last: 999_999_999, isTyped: true },
    { why: 'a number that may be no int32', last: 2_147_483_648, isTyped: false },
  ])('is an Int32Array or JSON.parse: $why', ({ last, isTyped }) => {
    const parsed = parseAnswerJson(Buffer.from(`{"prompt_token_ids":[${many('12')},${last}]}`));
    const { prompt_token_ids: ids } = parsed as { prompt_token_ids: Int32Array | number[] };
    expect(ids instanceof Int32Array).toBe(isTyped);
    expect(ids.at(-1)).toBe(last);
  });

  it('gives every id', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.nat(10).chain((digits) => fc.nat(Math.min(10 ** digits, 0x7fffffff))),
          { minLength: 4_000, maxLength: 5_000 },
        ),
        fc.boolean(),
        (ids, spaced) => {
          const list = JSON.stringify(ids);
          const text = `{"prompt_token_ids":${spaced ? list.replaceAll(',', ', ') : list},"usage":{}}`;
          expect(parse(text)).toEqual({ prompt_token_ids: ids, usage: {} });
        },
      ),
      { numRuns: 20 },
    );
  });
});

describe('wholeNumbers', () => {
  const numbers = (text: string): number[] | null => {
    const bytes = Buffer.from(text);
    const read = wholeNumbers(bytes, 0, bytes.length);
    return read && [...read];
  };

  it.each(['[0]', '[9]', '[12,3456,0,99999,123456,7654321]', '[ 1 , 2345 ]', '[999999999]'])('reads %s', (text) =>
    expect(numbers(text)).toEqual(JSON.parse(text)),
  );

  it.each([
    '[]',
    '[',
    '1',
    '[1',
    '[1,]',
    '[,1]',
    '[0123]',
    '[01234567]',
    '[12 34]',
    '[1.5]',
    '[12345e1]',
    '[1234567890]',
  ])('leaves to others: %s', (text) => expect(numbers(text)).toBeNull());

  it('is JSON.parse of what it reads, whatever stands between brackets', () => {
    const unit = fc.constantFrom(
      '0',
      '1',
      '23',
      '4567',
      '90123',
      ',',
      ',',
      ' ',
      '-',
      '.',
      'e',
      '/',
      ':',
      '\u0000',
      '\u00b0',
      '\uff10',
    );
    fc.assert(
      fc.property(fc.array(unit, { maxLength: 9 }), (units) => {
        const text = `[${units.join('')}]`;
        const read = numbers(text);
        if (read) expect(read).toEqual(JSON.parse(text));
        else if (/^\[( *(0|[1-9]\d{0,8}) *)(,( *(0|[1-9]\d{0,8}) *))*\]$/.test(text))
          throw new Error(`${text} is not read`);
      }),
      { numRuns: 5_000 },
    );
  });
});
