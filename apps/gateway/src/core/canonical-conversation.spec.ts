import { createHash } from 'node:crypto';
import { answerPositions, canonicalJson, canonicalMessage, openTurnKey } from './canonical-conversation';
import { messageText } from './judge-texts';
import { attemptHash, exchangeHash, prefixIdentities, type PrefixIdentity } from './request-identity';

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
      why: 'thinking in parts of its own',
      a: {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'x' },
          { type: 'text', text: 'hi' },
        ],
      },
      b: { role: 'assistant', content: 'hi' },
    },
    {
      why: 'a refusal as a part',
      a: { role: 'assistant', content: [{ type: 'refusal', refusal: 'no' }] },
      b: { role: 'assistant', content: null, refusal: 'no' },
    },
    {
      why: 'fields that say nothing',
      a: { role: 'assistant', content: 'x', refusal: null, annotations: [], audio: null, function_call: null },
      b: { role: 'assistant', content: 'x' },
    },
    {
      why: 'arguments left out or empty',
      a: { role: 'assistant', tool_calls: [call('a', '')] },
      b: { role: 'assistant', content: '', tool_calls: [call('b', '{}')] },
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

  it('survives content of any depth', () => {
    const deep = JSON.parse('['.repeat(5_000) + ']'.repeat(5_000)) as unknown;
    expect(canonicalMessage({ role: 'user', content: [deep] })).toContain('…');
    expect(
      canonicalMessage({ role: 'assistant', tool_calls: [{ function: { name: 'f', arguments: deep } }] }),
    ).toContain('f');
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
  const identities = (messages: object[], tenant = 't', extra: object = {}): PrefixIdentity[] =>
    prefixIdentities(tenant, { ...extra, messages: messages as Record<string, unknown>[] }, sha256);
  const last = (...args: Parameters<typeof identities>): PrefixIdentity => identities(...args).at(-1)!;

  it('the key of an answer is found again in the request that continues it', () => {
    const key = openTurnKey(last([system, user]).conversation, answer, sha256);
    const later = [{ role: 'developer', content: 'other' }, user, answer, next];
    expect(answerPositions(later)).toEqual([2]);
    expect(identities(later)[3]!.conversation).toBe(key);
  });

  it('tenants never meet', () => {
    expect(last([user], 'a').conversation).not.toBe(last([user], 'b').conversation);
  });

  it('looks at the last four answers, newest first, and at none that nothing follows', () => {
    const long = Array.from({ length: 6 }, () => [user, answer]).flat();
    expect(answerPositions(long)).toEqual([9, 7, 5, 3]);
  });

  it.each([
    { why: 'other system messages', a: last([system, user]), b: last([{ ...system, content: 'be rude' }, user]) },
    { why: 'system messages elsewhere', a: last([system, user]), b: last([user]) },
    { why: 'other tools', a: last([user], 't', { tools: [1] }), b: last([user], 't', { tools: [2] }) },
    { why: 'another end user', a: last([user], 't', { user: 'a' }), b: last([user], 't', { user: 'b' }) },
  ])('$why: the same conversation, another request', ({ a, b }) => {
    expect(a.conversation).toBe(b.conversation);
    expect(attemptHash(a, sha256)).not.toBe(attemptHash(b, sha256));
  });

  it('tools in another key order are the same request', () => {
    const [a, b] = [
      { name: 'x', strict: true },
      { strict: true, name: 'x' },
    ].map((tool) => attemptHash(last([system, user], 't', { tools: [tool] }), sha256));
    expect(a).toBe(b);
  });

  it('an exchange is the same after any history, and another one after another message', () => {
    const exchange = exchangeHash(last([user, answer, next, system]), answer, sha256);
    expect(exchangeHash(last([next]), { ...answer, content: ' hello' }, sha256)).toBe(exchange);
    expect(exchangeHash(last([user]), answer, sha256)).not.toBe(exchange);
    expect(exchangeHash(last([system]), answer, sha256)).toBeNull();
  });
});

describe('values with a toString of their own', () => {
  const odd = { toString: 1, valueOf: 2 };
  it.each([
    { role: 'assistant', tool_calls: [{ function: { name: odd } }] },
    { role: 'assistant', function_call: { name: odd } },
    { role: 'user', content: [{ type: odd }] },
  ])('%j is a message like any other', (message) => {
    expect(canonicalMessage(message)).toContain('toString');
    expect(typeof messageText(message)).toBe('string');
  });
});
