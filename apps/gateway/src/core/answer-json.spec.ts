import fc from 'fast-check';
import { parseAnswerJson } from './answer-json';

const many = (entry: string): string => Array(4_000).fill(entry).join(',');
const parse = (text: string): unknown => parseAnswerJson(Buffer.from(text));

describe('parseAnswerJson', () => {
  it.each([
    { why: 'short ids', text: '{"a":1,"prompt_token_ids":[1,2]}' },
    { why: 'long ids', text: `{"id":"é","prompt_token_ids":[0,${many('151643')}],"b":[1]}` },
    { why: 'with spaces', text: `{ "prompt_token_ids" : [ ${many(' 12 ')} ] }` },
    { why: 'a number that is none of an id', text: `{"prompt_token_ids":[${many('12')},1.5,-1,1e3,9007199254740993]}` },
    { why: 'a null among them', text: `{"prompt_token_ids":[${many('12')},null]}` },
    { why: 'another array inside', text: `{"prompt_token_ids":[${many('12')},[1]]}` },
    { why: 'the last of a name counts', text: `{"prompt_token_ids":[${many('12')}],"prompt_token_ids":null}` },
    { why: 'a list', text: `[{"prompt_token_ids":[${many('12')}]}]` },
    { why: 'under another name', text: `{"choices":[{"prompt_token_ids":[${many('12')}]}]}` },
    { why: 'a text', text: `{"prompt_token_ids":"${many('12')}"}` },
  ])('is JSON.parse: $why', ({ text }) => expect(parse(text)).toEqual(JSON.parse(text)));

  it.each([
    { why: 'a leading zero', text: `{"prompt_token_ids":[${many('12')},012]}` },
    { why: 'a comma too many', text: `{"prompt_token_ids":[${many('12')},]}` },
    { why: 'a missing comma', text: `{"prompt_token_ids":[${many('12')} 3]}` },
    { why: 'cut', text: `{"prompt_token_ids":[${many('12')}` },
    { why: 'broken elsewhere', text: `{"prompt_token_ids":[${many('12')}],"a":tru}` },
    { why: 'a member too many', text: `{"prompt_token_ids":[${many('12')}],}` },
  ])('refuses $why', ({ text }) => expect(() => parse(text)).toThrow(SyntaxError));

  it('gives every id', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(0x7fffffff), { minLength: 2_000, maxLength: 3_000 }), fc.boolean(), (ids, spaced) => {
        const list = JSON.stringify(ids);
        const text = `{"prompt_token_ids":${spaced ? list.replaceAll(',', ', ') : list},"usage":{}}`;
        expect(parse(text)).toEqual({ prompt_token_ids: ids, usage: {} });
      }),
      { numRuns: 20 },
    );
  });
});
