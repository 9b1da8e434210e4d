import { SseParser } from './sse-parser';
import { nothingAsked, stripEvent, stripFields as stripBytes, type AskedFields } from './strip-fields';

const all = { tokenIds: true, logProbs: true, usage: true };
const stripFields = (text: string, asked: AskedFields, isChunk: boolean): string =>
  Buffer.from(stripBytes(Buffer.from(text), asked, isChunk)).toString();

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

describe('a byte-order mark', () => {
  const mark = '\ufeff';
  it.each(['data: {"token_ids":[1]}\n\n', 'id: 1\ndata: {"token_ids":[1]}\n\n', 'data: {\ndata: "token_ids":[1]}\n\n'])(
    'does not hide the fields of a first event: %j',
    (text) => {
      const event = new SseParser().push(Buffer.from(mark + text))[0]!;
      const out = stripEvent(event, { token_ids: [1] }, all)!;
      expect(Buffer.from(out).toString()).not.toContain('token_ids');
    },
  );
  it('stays before a whole answer', () =>
    expect(stripFields(`${mark}{"token_ids":[1],"a":1}`, all, false)).toBe(`${mark}{"a":1}`));
});
