import { RequestMemory } from '@hindcast/platform';
import { hasUnread, leaveUnread, unreadUtf8 } from './unread-text';

type Json = Record<string, unknown>;

const newMemory = (): RequestMemory => new RequestMemory();

function unreadMessage(text: string, memory = newMemory()): Json {
  const message: Json = { role: 'user', content: '', name: 'a' };
  leaveUnread(message, Buffer.from(text), memory);
  return message;
}

describe('an unread text', () => {
  it.each([
    { why: 'read', of: (message: Json): unknown => message['content'], expected: 'Grüße' },
    {
      why: 'copied',
      of: (message: Json): unknown => ({ ...message }),
      expected: { role: 'user', content: 'Grüße', name: 'a' },
    },
    {
      why: 'written as JSON, in its place',
      of: (message: Json): unknown => JSON.stringify(message),
      expected: '{"role":"user","content":"Grüße","name":"a"}',
    },
    { why: 'walked over', of: (message: Json): unknown => Object.entries(message)[1], expected: ['content', 'Grüße'] },
  ])('is the text when it is $why, and a plain member from then on', ({ of, expected }) => {
    const message = unreadMessage('Grüße');
    expect(hasUnread(message)).toBe(true);
    expect(of(message)).toEqual(expected);
    expect(hasUnread(message)).toBe(false);
    expect(unreadUtf8(message)).toBeNull();
    expect(Object.getOwnPropertyDescriptor(message, 'content')).toEqual({
      value: 'Grüße',
      configurable: true,
      enumerable: true,
      writable: true,
    });
  });

  it('gives way to what is put in its place, and belongs to one message alone', () => {
    const [message, other] = [unreadMessage('Grüße'), unreadMessage('Łódź')];
    message['content'] = 'x';
    expect([message['content'], hasUnread(message), other['content']]).toEqual(['x', false, 'Łódź']);
  });

  it('is read by nobody when its memory was given back, and is not the text of another', async () => {
    const memory = newMemory();
    const [message, read] = [unreadMessage('Grüße', memory), unreadMessage('Łódź', memory)];
    expect(read['content']).toBe('Łódź');
    await memory.giveBack();
    expect(read['content']).toBe('Łódź');
    expect(() => message['content']).toThrow('after its request is over');
    expect(() => unreadUtf8(message)).toThrow('after its request is over');
  });

  it.each([
    { why: 'white space around it', text: ' \n\t\r\v\fé x ü\n ', utf8: 'é x ü' },
    { why: 'no white space', text: '漢字 🙂', utf8: '漢字 🙂' },
    { why: 'letters whose last byte is a space elsewhere', text: 'à là', utf8: 'à là' },
    { why: 'nothing but white space', text: ' \n ', utf8: '' },
    { why: 'white space beyond ASCII before it', text: '\u3000é', utf8: null },
    { why: 'white space beyond ASCII after it', text: 'é\u00a0', utf8: null },
    { why: 'the same after plain white space', text: ' \ufeff é', utf8: null },
  ])('is given as trimmed UTF-8, or left to be read: $why', ({ text, utf8 }) => {
    const found = unreadUtf8(unreadMessage(text));
    expect(found === null ? null : found.toString()).toBe(utf8);
    if (utf8 !== null) expect(utf8).toBe(text.trim());
    else expect(text.trim()).toBe('é');
  });
});
