import { checkDepth } from '@hindcast/platform';
import fc from 'fast-check';
import { sha256 } from './answer-recorder';
import { checkRequest, type ChatRequest } from './core/request-check';
import { askedHashes, exchangeHash, prefixIdentities } from './core/request-identity';
import { hasUnread } from './core/unread-text';
import { readLongRequest } from './long-request';

type Json = Record<string, unknown>;

const long = 'A long text, "quoted", from Zürich — and Łódź.\n'.repeat(300);
const read = (json: string): unknown => readLongRequest(Buffer.from(json));
const requestOf = (...messages: Json[]): string => JSON.stringify({ model: 'm', messages });

function unreadIn(body: unknown): number {
  if (typeof body !== 'object' || body === null) return 0;
  if (hasUnread(body)) return 1;
  return Object.values(body).reduce((sum: number, value) => sum + unreadIn(value), 0);
}

describe('readLongRequest', () => {
  it('leaves the long contents of messages unread', () => {
    const body = read(
      requestOf({ role: 'system', content: long }, { role: 'user', content: long }, { role: 'user', content: 'Łódź' }),
    );
    expect(unreadIn(body)).toBe(2);
    expect(checkRequest(body).ok).toBe(true);
    checkDepth(body);
    prefixIdentities('t', body as ChatRequest, sha256);
    expect(unreadIn(body)).toBe(2);
  });

  it.each([
    { why: 'of ASCII', json: requestOf({ role: 'user', content: 'x'.repeat(9_000) }) },
    {
      why: 'beside a text that is escaped by its code',
      json: requestOf({ role: 'user', content: long }).replace('{', '{"a":"\\u00e9",'),
    },
    {
      why: 'that is escaped by its codes',
      json: requestOf({ role: 'user', content: long }).replaceAll('ü', '\\u00fc'),
    },
    { why: 'beside a name that is not ASCII', json: requestOf({ role: 'user', content: long, größe: 1 }) },
    {
      why: 'between white space',
      json: JSON.stringify(JSON.parse(requestOf({ role: 'user', content: long })), null, 2),
    },
  ])('leaves a long content unread: one $why', ({ json }) => {
    const body = read(json);
    expect(unreadIn(body)).toBe(1);
    expect(body).toEqual(JSON.parse(json));
  });

  it.each([
    { why: 'the text is an entry of a list', json: `["${'ü'.repeat(9_000)}"]` },
    { why: 'it is a text', json: `"${'ü'.repeat(9_000)}"` },
    {
      why: 'it is deep',
      json: requestOf({ role: 'user', content: long, deep: JSON.parse('['.repeat(300) + ']'.repeat(300)) as unknown }),
    },
  ])('reads all where $why', ({ json }) => {
    const body = read(json);
    expect(unreadIn(body)).toBe(0);
    expect(body).toEqual(JSON.parse(json));
  });

  it.each([
    {
      why: 'in the same message',
      json: `{"messages":[{"content":${JSON.stringify(long)},"content":"unread content 0"}]}`,
    },
    {
      why: 'in other messages',
      json: `{"messages":[{"content":${JSON.stringify(long)}}],"messages":[{"content":"unread content 0"}]}`,
    },
  ])('takes the last of two contents, whatever it says: $why', ({ json }) => {
    const body = read(json) ?? JSON.parse(json);
    expect(body).toEqual(JSON.parse(json));
  });

  it('leaves it to others to refuse what is too deep', () => {
    const deep = JSON.parse('['.repeat(300) + ']'.repeat(300)) as unknown;
    expect(() => checkDepth(read(requestOf({ role: 'user', content: long, deep })))).toThrow('nested deeper');
  });

  it.each([
    { why: 'short', bytes: Buffer.from('{"a":"ü"}') },
    { why: 'no JSON', bytes: Buffer.from(`{"a":"${long.replaceAll('\n', ' ')}`) },
    { why: 'no JSON: a line end in a text', bytes: Buffer.from(`{"a":"${long.replaceAll('"', '')}"}`) },
    { why: 'no UTF-8', bytes: Buffer.concat([Buffer.from('{"a":"'), Buffer.alloc(9_000, 0xc3), Buffer.from('"}')]) },
    { why: 'after a byte-order mark', bytes: Buffer.from(`\ufeff${requestOf({ role: 'user', content: long })}`) },
  ])('leaves to the server: $why', ({ bytes }) => expect(readLongRequest(bytes)).toBeUndefined());

  it('refuses a number that is none beside an unread text', () => {
    const json = requestOf({ role: 'user', content: long }).replace('"content"', '"a":1e400,"content"');
    expect(checkRequest(read(json))).toMatchObject({ ok: false, param: 'messages' });
  });

  it('is JSON.parse of any JSON', () => {
    fc.assert(
      fc.property(fc.json({ stringUnit: 'binary' }), fc.string({ unit: 'binary' }), (json, text) => {
        const message = JSON.stringify({ role: 'user', content: text + long, text });
        const body = `{"__proto__":${json},"messages":[${message},${json}],"list":[${JSON.stringify(text)}]}`;
        expect(read(body)).toEqual(JSON.parse(body));
        expect(JSON.stringify(read(body))).toBe(JSON.stringify(JSON.parse(body)));
      }),
      { numRuns: 300 },
    );
  });

  it('gives every prefix the identity that the text gives it', () => {
    const space = fc.string({
      unit: fc.constantFrom(' ', '\n', '\u00a0', '\u3000', '\ufeff', 'à', '漢', 'x', '</think>'),
      maxLength: 4,
    });
    const role = fc.constantFrom('system', 'developer', 'user', 'assistant', 'tool', 'function');
    const message = fc
      .tuple(role, space, space)
      .map(([name, before, after]) => ({ role: name, content: before + long + after }));
    fc.assert(
      fc.property(fc.array(message, { minLength: 1, maxLength: 4 }), (messages) => {
        const json = requestOf(...messages);
        const [unread, plain] = [read(json), JSON.parse(json)].map((body) => body as ChatRequest) as [
          ChatRequest,
          ChatRequest,
        ];
        expect(unreadIn(unread)).toBe(messages.length);
        const identities = [unread, plain].map((body) => prefixIdentities('t', body, sha256));
        const hashes = identities.map((of) =>
          of.map((identity) => [identity.conversation, identity.context, identity.length]),
        );
        expect(hashes[0]).toEqual(hashes[1]);
        const sessions = identities.map((of) =>
          of.map((identity) => [askedHashes(identity, sha256), exchangeHash(identity, { content: 'a' }, sha256)]),
        );
        expect(sessions[0]).toEqual(sessions[1]);
      }),
      { numRuns: 100 },
    );
  });
});
