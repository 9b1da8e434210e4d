import { errorWithoutKey, retryAfterHeader, withoutKey } from './engine-key';
import { SseParser } from './sse-parser';

const plain = 'sk-plain';
const odd = 'sk-"odd"\\key/é';

describe('withoutKey', () => {
  it.each([
    { why: 'text', key: plain, text: 'bad key sk-plain', expected: 'bad key ***' },
    { why: 'text with an odd key', key: odd, text: `bad key ${odd}`, expected: 'bad key ***' },
    { why: 'cut JSON', key: odd, text: '{"m":"sk-\\"odd\\"\\\\key/é', expected: '{"m":"***' },
    { why: 'JSON', key: plain, text: '{"error":{"message":"sk-plain"}}', expected: '{"error":{"message":"***"}}' },
    { why: 'JSON with an odd key', key: odd, text: JSON.stringify({ a: [odd] }), expected: '{"a":["***"]}' },
    { why: 'another spelling', key: odd, text: '{"a":"sk-\\u0022odd\\"\\\\key\\/\\u00e9"}', expected: '{"a":"***"}' },
    {
      why: 'JSON in JSON',
      key: odd,
      text: JSON.stringify({ a: JSON.stringify({ b: odd }) }),
      expected: '{"a":"{\\"b\\":\\"***\\"}"}',
    },
    { why: 'a name', key: plain, text: '{"sk-plain":1}', expected: '{"***":1}' },
    { why: 'nothing of it: the bytes stay', key: plain, text: '{ "a": 1.0 }', expected: '{ "a": 1.0 }' },
    { why: 'no key is set', key: undefined, text: 'sk-plain', expected: 'sk-plain' },
  ])('$why', ({ key, text, expected }) => expect(withoutKey(text, key)).toBe(expected));
});

describe('errorWithoutKey', () => {
  const eventOf = (text: string) => new SseParser().push(Buffer.from(text))[0]!;
  const shown = (text: string, key = plain): string =>
    Buffer.from(errorWithoutKey(eventOf(text), key).raw).toString('utf8');

  it.each([
    {
      why: 'an error member',
      text: 'data: {"error":{"message":"sk-plain"}}\r\n\r\n',
      expected: 'data: {"error":{"message":"***"}}\n\n',
    },
    {
      why: 'an error event without JSON',
      text: 'event: error\ndata: sk-plain\ndata: is bad\n\n',
      expected: 'event: error\ndata: ***\ndata: is bad\n\n',
    },
    {
      why: 'a comment beside the error',
      text: ': sk-plain\ndata: {"error":"x"}\n\n',
      expected: 'data: {"error":"x"}\n\n',
    },
    {
      why: 'no key in it: the bytes stay',
      text: 'data:  {"error": {"message":"x"}}\r\n\r\n',
      expected: 'data:  {"error": {"message":"x"}}\r\n\r\n',
    },
    {
      why: 'an answer is no error',
      text: 'data: {"choices":[{"text":"sk-plain"}]}\n\n',
      expected: 'data: {"choices":[{"text":"sk-plain"}]}\n\n',
    },
  ])('$why', ({ text, expected }) => expect(shown(text)).toBe(expected));
});

describe('retryAfterHeader', () => {
  it.each([
    ['7', '7'],
    [' 0.5 ', '0.5'],
    ['Wed, 21 Oct 2015 07:28:00 GMT', 'Wed, 21 Oct 2015 07:28:00 GMT'],
    ['sk-plain', null],
    ['7 sk-plain', null],
    [['1', '2'], null],
    [undefined, null],
  ])('%j → %j', (value, expected) => expect(retryAfterHeader(value)).toBe(expected));
});
