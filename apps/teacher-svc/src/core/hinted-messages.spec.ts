import { flattenContent, hintedMessages, type Message } from './hinted-messages';
import vectors from './reference-vectors.json';

describe('against the reference vectors', () => {
  it.each(vectors.append_hint as unknown as [Message[], string, Message[]][])(
    'append_hint: into %j',
    (messages, hint, expected) => {
      expect(hintedMessages(messages, hint)).toEqual(expected);
    },
  );
  it.each((vectors.flatten as [unknown, string][]).filter(([content]) => !isPlainObject(content)))(
    'flatten: %j → %j',
    (content, text) => {
      expect(flattenContent(content)).toBe(text);
    },
  );
});

it('renders a content of no known shape as JSON (the reference prints Python)', () => {
  expect(flattenContent({ a: 1 })).toBe('{"a":1}');
});

it('leaves every other message as the same object', () => {
  const messages: Message[] = [
    { role: 'system', content: 's' },
    { role: 'user', content: 'q' },
    { role: 'tool', content: [{ type: 'text', text: 'out' }] },
  ];
  const hinted = hintedMessages(messages, 'use metres');
  expect(hinted[0]).toBe(messages[0]);
  expect(hinted[2]).toBe(messages[2]);
  expect(messages[1]).toEqual({ role: 'user', content: 'q' });
});

function isPlainObject(content: unknown): boolean {
  return typeof content === 'object' && content !== null && !Array.isArray(content);
}
