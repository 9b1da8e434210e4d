import { createHash } from 'node:crypto';
import {
  answerPositions,
  canonicalJson,
  canonicalMessage,
  conversationHashes,
  openTurnKey,
} from './canonical-conversation';

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
const call = (id: string, args: string): object => ({
  id,
  type: 'function',
  function: { name: 'read', arguments: args },
});

describe('canonicalMessage', () => {
  it.each([
    { why: 'outer white space', a: { role: 'user', content: ' hi\n' }, b: { role: 'user', content: 'hi' } },
    {
      why: 'content as parts',
      a: { role: 'user', content: [{ type: 'text', text: 'hi' }] },
      b: { role: 'user', content: 'hi' },
    },
    { why: 'no content, null, empty', a: { role: 'assistant' }, b: { role: 'assistant', content: null } },
    {
      why: 'reasoning field',
      a: { role: 'assistant', content: 'x', reasoning_content: 'why' },
      b: { role: 'assistant', content: 'x' },
    },
    {
      why: 'D7 thinking in the text',
      a: { role: 'assistant', content: '<think>x</think>hi' },
      b: { role: 'assistant', content: 'hi' },
    },
    {
      why: 'tool-call ids',
      a: { role: 'assistant', tool_calls: [call('a', '{}')] },
      b: { role: 'assistant', tool_calls: [call('b', '{}')] },
    },
    {
      why: 'order and spelling of tool arguments',
      a: { role: 'assistant', tool_calls: [call('a', '{"x":1.0,"y":[1, 2]}')] },
      b: { role: 'assistant', tool_calls: [call('a', '{ "y":[1,2],"x":1 }')] },
    },
    {
      why: 'tool result ids',
      a: { role: 'tool', tool_call_id: 'a', content: 'r' },
      b: { role: 'tool', tool_call_id: 'b', content: 'r' },
    },
  ])('$why does not matter', ({ a, b }) => {
    expect(canonicalMessage(a)).toBe(canonicalMessage(b));
  });

  it.each([
    { why: 'the role', a: { role: 'user', content: 'x' }, b: { role: 'assistant', content: 'x' } },
    { why: 'inner white space', a: { role: 'user', content: 'a b' }, b: { role: 'user', content: 'a  b' } },
    {
      why: 'an image',
      a: { role: 'user', content: [{ type: 'image_url', image_url: { url: 'a' } }] },
      b: { role: 'user', content: [{ type: 'image_url', image_url: { url: 'b' } }] },
    },
    {
      why: 'order of array arguments',
      a: { role: 'assistant', tool_calls: [call('a', '[1,2]')] },
      b: { role: 'assistant', tool_calls: [call('a', '[2,1]')] },
    },
    { why: 'thinking of a user', a: { role: 'user', content: 'a</think>b' }, b: { role: 'user', content: 'b' } },
  ])('$why matters', ({ a, b }) => {
    expect(canonicalMessage(a)).not.toBe(canonicalMessage(b));
  });

  it('survives arguments that no parser can walk', () => {
    const deep = '['.repeat(200_000) + ']'.repeat(200_000);
    expect(canonicalMessage({ role: 'assistant', tool_calls: [call('a', deep), call('b', '{broken')] })).toContain(
      'broken',
    );
  });

  it('canonicalJson sorts keys only', () => {
    expect(canonicalJson({ b: [2, { d: 1, c: null }], a: 'x' })).toBe('{"a":"x","b":[2,{"c":null,"d":1}]}');
  });
});

describe('conversation keys', () => {
  const system = { role: 'system', content: 'be kind' };
  const user = { role: 'user', content: 'hi' };
  const answer = { role: 'assistant', content: 'hello' };
  const next = { role: 'user', content: 'more' };

  it('the key of an answer is found again in the request that continues it', () => {
    const key = openTurnKey(conversationHashes('t', [system, user], sha256).at(-1)!, answer, sha256);
    const later = [{ role: 'developer', content: 'other' }, user, answer, next];
    expect(answerPositions(later, conversationHashes('t', later, sha256))).toEqual([{ index: 2, key }]);
  });

  it('tenants never meet', () => {
    expect(conversationHashes('a', [user], sha256).at(-1)).not.toBe(conversationHashes('b', [user], sha256).at(-1));
  });

  it('looks at the last four answers, newest first, and at none that nothing follows', () => {
    const long = Array.from({ length: 6 }, () => [user, answer]).flat();
    const positions = answerPositions(long, conversationHashes('t', long, sha256));
    expect(positions.map(({ index }) => index)).toEqual([9, 7, 5, 3]);
  });
});
