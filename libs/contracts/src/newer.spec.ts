import { z } from 'zod';
import { CurrentPolicy } from './policy';
import { contracts, messageSchema, type ContractName } from './registry';
import { readNewer } from './newer';
import { golden } from './testing/messages';

const names = Object.keys(contracts) as ContractName[];

it.each(names)('a newer %s is read without what is new in it', (name) => {
  const schema = messageSchema(name);
  const { message, twins } = golden[name];
  const newer = { ...message, trace: 'a', body: { ...message.body, more: { deep: 1 } } };
  expect(schema.safeParse(newer).success).toBe(false);
  expect(readNewer(schema, newer)).toEqual({
    success: true,
    data: schema.parse(message),
    unknown: expect.arrayContaining(['trace', 'body.more']),
  });
  expect(newer.body.more).toEqual({ deep: 1 });
  for (const breakIt of Object.values(twins)) {
    const broken = JSON.parse(JSON.stringify(breakIt(message as unknown as Record<string, unknown>))) as object;
    expect(readNewer(schema, broken).success).toBe(false);
  }
});

it('reads what stands in lists and in unions, and what is known changes nothing', () => {
  const schema = z.strictObject({
    list: z.array(z.strictObject({ a: z.int() })),
    either: z.union([z.strictObject({ kind: z.literal('x') }), z.strictObject({ kind: z.literal('y'), b: z.int() })]),
  });
  const known = { list: [{ a: 1 }, { a: 2 }], either: { kind: 'y', b: 1 } };
  expect(readNewer(schema, known)).toEqual({ success: true, data: known, unknown: [] });
  const newer = { list: [{ a: 1 }, { a: 2, c: 3 }], either: { ...known.either, d: 4 } };
  expect(readNewer(schema, newer)).toEqual({ success: true, data: known, unknown: ['list.1.c', 'either.d'] });
});

it('leaves out a member that is nested deeper than can be followed, and any number of them', () => {
  const deep: unknown = JSON.parse('['.repeat(50_000) + ']'.repeat(50_000));
  const { message } = golden.turnPaired;
  expect(readNewer(messageSchema('turnPaired'), { ...message, body: { ...message.body, deep } })).toMatchObject({
    success: true,
    unknown: ['body.deep'],
  });
  const many = Object.fromEntries(Array.from({ length: 200_000 }, (_, i) => [`m${i}`, 0]));
  expect(readNewer(z.strictObject({ a: z.int() }), { ...many, a: 1 })).toMatchObject({ success: true, data: { a: 1 } });
});

it('takes a member named __proto__ for one like any other', () => {
  const value: unknown = JSON.parse('{"a": 1, "__proto__": {"b": 2}, "more": 1}');
  expect(readNewer(z.strictObject({ a: z.int() }), value)).toMatchObject({ success: true, data: { a: 1 } });
});

it.each([
  ['a wrong value beside an unknown member', { version: -1, adapter: null, engines: [], at: 1, more: 1 }],
  ['a member that is missing', { version: 1, engines: [], at: 1, more: 1 }],
  ['no object', 'text'],
])('refuses %s', (_, value) => expect(readNewer(CurrentPolicy, value).success).toBe(false));
