import { RequestMemory } from '@hindcast/platform';
import { outlineOf, placeOf } from './request-outline';
import { hasUnread } from './unread-text';

const MARK = 'a mark';
type Json = Record<string, unknown>;

const long = 'A long text, "quoted", from Zürich — and Łódź.\n'.repeat(100);
const json = JSON.stringify(long);
const memory = new RequestMemory();

function filled(text: string): { body: Json; isFilled: boolean } | null {
  const outline = outlineOf(Buffer.from(text), memory, MARK);
  if (!outline) return null;
  const body = JSON.parse(outline.json.toString()) as Json;
  return { body, isFilled: outline.fill(body, memory) };
}

describe('outlineOf', () => {
  it('holds everything but the long contents, which the messages get unread', () => {
    const text = ` { "model" : "m", "messages" : [ {"role":"user","content" : ${json} , "a":[${json}]}, {"role":"user","content":"short"},
      {"content":${JSON.stringify(`x${long}`)},"role":"user"} ], "n" : 1 } `;
    const outline = outlineOf(Buffer.from(text), memory, MARK)!;
    expect(outline.json.length).toBeLessThan(Buffer.byteLength(json) + 300);
    const { body, isFilled } = filled(text)!;
    expect(isFilled).toBe(true);
    const messages = body['messages'] as Json[];
    expect(messages.map(hasUnread)).toEqual([true, false, true]);
    expect(body).toEqual(JSON.parse(text));
    expect(JSON.stringify(body)).toBe(JSON.stringify(JSON.parse(text)));
  });

  it.each(['{"input":"a"}', '{"messages":[{"content":[{"type":"text","text":"a"}]}]}'])(
    'takes no memory for a request without a text of a message: %s',
    (text) => {
      const take = jest.fn((bytes: number) => Buffer.alloc(bytes));
      expect(
        outlineOf(Buffer.from(text.replace('a', 'a'.repeat(10_000))), { take, add: () => undefined }, MARK),
      ).toBeNull();
      expect(take).not.toHaveBeenCalled();
    },
  );

  it('knows where in the request something stands', () => {
    const message = `{"content":${json}}`;
    const text = `{"a":[1],"messages":[${message},${message}],"b":[2]}`;
    const outline = outlineOf(Buffer.from(text), memory, MARK)!;
    for (const mark of ['[1]', '"messages"', '],"b"', '[2]', '}']) {
      const inOutline = outline.json.lastIndexOf(mark);
      expect(outline.inRequest(inOutline)).toBe(Buffer.from(text).lastIndexOf(mark));
    }
  });

  it.each([
    { why: 'no long content', text: '{"messages":[{"content":"a"}]}' },
    { why: 'a long text elsewhere', text: `{"messages":[{"name":${json}}],"content":${json}}` },
    { why: 'no JSON', text: `{"messages":[{"content":${json}}` },
    { why: 'half a pair', text: `{"messages":[{"content":"\\ud800${json.slice(1)}}]}` },
    { why: 'very deep', text: `{"messages":${'['.repeat(200_000)}` },
  ])('is none: $why', ({ text }) => expect(outlineOf(Buffer.from(text), memory, MARK)).toBeNull());

  it.each([
    { why: 'a content twice', text: `{"messages":[{"content":${json},"content":"a"}]}` },
    { why: 'messages twice', text: `{"messages":[{"content":${json}}],"messages":[]}` },
    { why: 'messages in a list', text: `{"messages":[[{"content":${json}}]]}` },
    { why: 'messages that are one', text: `{"messages":{"content":${json}}}` },
    {
      why: 'a text that reads like a place',
      text: `{"messages":[{"content":${json}},{"content":"${placeOf(MARK, 0)}"}]}`,
    },
    {
      why: 'a text that reads like a place before it',
      text: `{"messages":[{"content":"${placeOf(MARK, 0)}"},{"content":${json}}]}`,
    },
    {
      why: 'a place that is gone, and a text that reads like it',
      text: `{"messages":[{"content":${json},"content":"${placeOf(MARK, 0)}"}, {"content":${json}}]}`.replace(
        placeOf(MARK, 0),
        placeOf(MARK, 1),
      ),
    },
  ])('is not filled: $why', ({ text }) => expect(filled(text)!.isFilled).toBe(false));
});
