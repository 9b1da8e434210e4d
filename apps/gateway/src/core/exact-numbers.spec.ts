import { exactJson as exactBytes, forgetSource, withSource, writtenMember } from './exact-numbers';

const parsed = (text: string): Record<string, unknown> => ({
  ...(withSource(JSON.parse(text), Buffer.from(text)) as Record<string, unknown>),
});
const exactJson = (body: Record<string, unknown>): string => Buffer.from(exactBytes(body)).toString();

describe('exactJson', () => {
  it.each([
    { why: 'a 64-bit seed', text: '{"seed":9223372036854775807,"n":1}', out: '{"seed":9223372036854775807,"n":1}' },
    {
      why: 'a limit deep in a tool, its spelling with it',
      text: '{"a":1, "tools": [ {"max": -9007199254740993, "min": 0.0} ]}',
      out: '{"a":1,"tools":[ {"max": -9007199254740993, "min": 0.0} ]}',
    },
    {
      why: 'plain values are written anew',
      text: '{ "a": 1.0, "b": "9223372036854775807" }',
      out: '{"a":1,"b":"9223372036854775807"}',
    },
    { why: 'the last of a name', text: '{"s":9007199254740993,"s":9007199254740995}', out: '{"s":9007199254740995}' },
    { why: 'a name with escapes', text: '{"s\\u0065ed":9007199254740993}', out: '{"seed":9007199254740993}' },
    {
      why: 'messages as they were written',
      text: '{"messages": [ {"content":"\\u00e9 é \\ud800", "role":"user"} ]}',
      out: '{"messages":[ {"content":"\\u00e9 é \\ud800", "role":"user"} ]}',
    },
    { why: 'a large round number', text: '{"s":1e300}', out: '{"s":1e300}' },
  ])('$why', ({ text, out }) => expect(exactJson(parsed(text))).toBe(out));

  it('members that were set or removed on the way', () => {
    const { gone: _, ...body } = parsed('{"gone":9007199254740993,"seed":9007199254740993,"o":{"a":9007199254740993}}');
    expect(exactJson({ ...body, o: { a: 2 ** 53, b: true }, model: 'm' })).toBe(
      '{"seed":9007199254740993,"o":{"a":9007199254740992,"b":true},"model":"m"}',
    );
  });

  it('a text with a byte-order mark, and bodies that are no object', () => {
    const text = '{"seed":9007199254740993}';
    const body = withSource(JSON.parse(text), Buffer.from(`\ufeff${text}`));
    expect(exactJson(body as Record<string, unknown>)).toBe(text);
    for (const other of [null, 5, [1]]) expect(withSource(other, Buffer.from('x'))).toBe(other);
    expect(withSource({}, undefined)).toEqual({});
  });

  it('a member of the same name that was changed is not the client’s', () => {
    const body = parsed('{"messages":[1],"tools":[2]}');
    expect(Buffer.from(writtenMember(body, 'messages')!).toString()).toBe('[1]');
    expect(writtenMember({ ...body, messages: [1] }, 'messages')).toBeNull();
    expect(writtenMember({ messages: [1] }, 'messages')).toBeNull();
    expect(exactJson({})).toBe('{}');
  });

  it('a request whose text is gone, and every copy of it, is written anew', () => {
    const body = parsed('{"messages": [ 1 ]}');
    const copy = { ...body };
    expect(writtenMember(copy, 'messages')).not.toBeNull();
    forgetSource(body);
    expect(writtenMember(copy, 'messages')).toBeNull();
    expect(exactJson(copy)).toBe('{"messages":[1]}');
    for (const other of [null, 5, {}]) expect(() => forgetSource(other)).not.toThrow();
  });

  it('a request without its text goes as JavaScript writes it', () => {
    expect(exactJson({ seed: 2 ** 60, nothing: undefined })).toBe(JSON.stringify({ seed: 2 ** 60 }));
  });
});
