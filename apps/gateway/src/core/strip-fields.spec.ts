import fc from 'fast-check';
import { SseParser } from './sse-parser';
import { cutMembers, nothingAsked, stripEvent, stripFields } from './strip-fields';

const all = { tokenIds: true, logProbs: true, usage: true };

describe('cutMembers', () => {
  it.each([
    { text: '{"a":1,"b":2,"c":3}', cut: ['a'], out: '{"b":2,"c":3}' },
    { text: '{"a":1,"b":2,"c":3}', cut: ['b'], out: '{"a":1,"c":3}' },
    { text: '{"a":1,"b":2,"c":3}', cut: ['c'], out: '{"a":1,"b":2}' },
    { text: '{ "a" : 1 , "b" : [ 1.0e5 , "x" ] }', cut: ['a'], out: '{ "b" : [ 1.0e5 , "x" ] }' },
    { text: '{ "a" : 1 , "b" : 2 }', cut: ['b'], out: '{ "a" : 1 }' },
    { text: '{"a":{"a":1}}', cut: ['x'], out: '{"a":{"a":1}}' },
    { text: '{"a":1}', cut: ['a'], out: '{}' },
    { text: '{}', cut: ['a'], out: '{}' },
    { text: '[{"a":[]},{"a":{}}]', cut: ['a'], out: '[{},{}]' },
    { text: '{"k":"}\\"a\\":1,","a":"\\\\"}', cut: ['a'], out: '{"k":"}\\"a\\":1,"}' },
  ])('cuts $cut from $text', ({ text, cut, out }) => {
    expect(cutMembers(text, (path) => cut.includes(path.at(-1)!))).toBe(out);
  });

  it('means the same as deleting the members', () => {
    const remove = (value: unknown): unknown => {
      if (Array.isArray(value)) return value.map(remove);
      if (typeof value !== 'object' || value === null) return value;
      return Object.fromEntries(
        Object.entries(value)
          .filter(([key]) => key !== 'cut')
          .map(([key, inner]) => [key, remove(inner)]),
      );
    };
    const { tree } = fc.letrec((tie) => ({
      tree: fc.oneof(
        { maxDepth: 4 },
        fc.string({ unit: 'grapheme' }),
        fc.integer(),
        fc.boolean(),
        fc.constant(null),
        tie('list'),
        tie('object'),
      ),
      list: fc.array(tie('tree'), { maxLength: 4 }),
      object: fc.dictionary(
        fc.oneof(
          fc.constantFrom('cut', 'keep'),
          fc.string().filter((key) => key !== '__proto__'),
        ),
        tie('tree'),
        { maxKeys: 5 },
      ),
    }));
    fc.assert(
      fc.property(tree, fc.constantFrom(undefined, 1, '\t'), (value, indent) => {
        const text = JSON.stringify(value, null, indent);
        expect(JSON.parse(cutMembers(text, (path) => path.at(-1) === 'cut'))).toEqual(remove(value));
        expect(cutMembers(text, () => false)).toBe(text);
      }),
      { numRuns: 300 },
    );
  });

  it.each(['{"a":1', '{"a" 1}', '[1,2', '{"a":1}x', '{"a":1,}', ''])('refuses %j', (text) => {
    expect(() => cutMembers(text, () => false)).toThrow(SyntaxError);
  });
});

describe('stripFields', () => {
  const chunk =
    '{"id":"c","choices":[{"index":0,"delta":{"content":"\\u5317 token_ids"},"logprobs":{"content":[{"logprob":-1.50}]},"finish_reason":null,"token_ids":[1]}],"usage":null,"prompt_token_ids":[1,2]}';

  it('leaves all other bytes as they are', () => {
    expect(stripFields(chunk, all, true)).toBe(
      '{"id":"c","choices":[{"index":0,"delta":{"content":"\\u5317 token_ids"},"finish_reason":null}]}',
    );
    expect(stripFields(chunk, nothingAsked, true)).toBe(chunk);
  });

  it('keeps what the client asked for itself', () => {
    expect(stripFields(chunk, { ...all, logProbs: false }, true)).toContain('"logprob":-1.50');
    expect(stripFields(chunk, { ...all, tokenIds: false }, true)).toContain('"prompt_token_ids":[1,2]');
  });

  it('keeps a null that the engine sends anyway, and fields of that name elsewhere', () => {
    const text =
      '{"choices":[{"logprobs":null,"message":{"logprobs":{},"token_ids":[3]}}],"usage":{"prompt_tokens":1}}';
    expect(stripFields(text, all, false)).toBe(text);
  });
});

describe('stripEvent', () => {
  const strip = (text: string): string | null => {
    const event = new SseParser().push(Buffer.from(text))[0]!;
    const stripped = stripEvent(event, JSON.parse(event.data!) as Record<string, unknown>, all);
    return stripped && Buffer.from(stripped).toString();
  };

  it.each([
    {
      text: 'data: {"choices":[{"token_ids":[1],"delta":{"content":"北🎉"}}]}\r\n\r\n',
      out: 'data: {"choices":[{"delta":{"content":"北🎉"}}]}\r\n\r\n',
    },
    { text: 'id: 4\ndata:{"choices":[{"token_ids":null}]}\n\n', out: 'id: 4\ndata:{"choices":[{}]}\n\n' },
    { text: ': note\ndata: {"choices":[{"delta":{}}]}\n\n', out: ': note\ndata: {"choices":[{"delta":{}}]}\n\n' },
    {
      text: 'data: {"choices":[{"token_ids":[1],\ndata: "delta":{}}]}\n\n',
      out: 'data: {"choices":[{"delta":{}}]}\n\n',
    },
    { text: 'data: {"choices":[],"usage":{"prompt_tokens":1}}\n\n', out: null },
  ])('$text', ({ text, out }) => {
    expect(strip(text)).toBe(out);
  });
});
