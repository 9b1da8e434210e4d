import fc from 'fast-check';
import type { TokenEntry } from './token-entry';
import { recoverIds } from './token-recovery';
import type { SingleTokenDecoding } from './vocabulary';
import { entry, vocabularyOf } from '../testing/small-vocabulary';

describe('recoverIds never gives other ids than were sampled', () => {
  const END_ID = 0;
  const alphabet: (string | number[])[] = [
    '<|end|>',
    'a',
    'b',
    ' a',
    ' b',
    'ab',
    '.',
    ' .',
    'é',
    ' é',
    [0xc3],
    [0xa9],
    '\uFFFD',
    '<tool>',
    '  a',
  ];
  const fallbackBytes: number[][] = [[0x61], [0x62], [0x20], [0x2e]];
  const text = (bytes: Uint8Array): string => new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
  const isWhole = (bytes: Uint8Array): boolean => !text(bytes).includes('\uFFFD');
  const joined = (pieces: readonly Uint8Array[]): Uint8Array => Buffer.concat(pieces);

  /** How servers show the tokens of one answer; each takes sampled ids that end with END_ID. */
  const bytesOf = (tokens: readonly (string | number[])[], id: number): Buffer => Buffer.from(tokens[id] as string);
  interface Shown {
    tokens: TokenEntry[];
    countedTokens: number;
  }
  type Server = (ids: readonly number[], tokens: readonly (string | number[])[]) => Shown;
  const exactEntry = (bytes: Uint8Array, id: number | null = null): TokenEntry =>
    entry({ token: text(bytes), bytes: [...bytes], id });
  const merged: (
    withIds: boolean,
  ) => (ids: readonly number[], tokens: readonly (string | number[])[]) => TokenEntry[] =
    (withIds) => (ids, tokens) => {
      const entries: TokenEntry[] = [];
      let pending: Buffer[] = [];
      for (const id of ids) {
        pending.push(id === END_ID ? Buffer.alloc(0) : bytesOf(tokens, id));
        if (!isWhole(joined(pending))) continue;
        entries.push(exactEntry(joined(pending), withIds ? id : null));
        pending = [];
      }
      return entries;
    };
  const withoutEnd = (ids: readonly number[]): number[] => ids.slice(0, -1);
  const servers: Record<string, Server> = {
    'shows all': (ids, tokens) => ({
      tokens: ids.map((id) => exactEntry(bytesOf(tokens, id))),
      countedTokens: ids.length,
    }),
    'Ollama: counts the end token and hides it': (ids, tokens) => ({
      tokens: withoutEnd(ids).map((id) => exactEntry(bytesOf(tokens, id))),
      countedTokens: ids.length,
    }),
    'hides the end token and does not count it': (ids, tokens) => ({
      tokens: withoutEnd(ids).map((id) => exactEntry(bytesOf(tokens, id))),
      countedTokens: ids.length - 1,
    }),
    'llama.cpp: ids, characters put together': (ids, tokens) => ({
      tokens: merged(true)(ids, tokens),
      countedTokens: ids.length,
    }),
    'llama.cpp, streamed: without the end token': (ids, tokens) => ({
      tokens: merged(true)(withoutEnd(ids), tokens),
      countedTokens: ids.length,
    }),
    'puts characters together, no ids': (ids, tokens) => ({
      tokens: merged(false)(withoutEnd(ids), tokens),
      countedTokens: ids.length - 1,
    }),
    'puts characters together, no ids, counts the end token': (ids, tokens) => ({
      tokens: merged(false)(withoutEnd(ids), tokens),
      countedTokens: ids.length,
    }),
    'vLLM: U+FFFD for half a character, and its bytes': (ids, tokens) => ({
      tokens: ids.map((id) => exactEntry(Buffer.from(text(bytesOf(tokens, id))))),
      countedTokens: ids.length,
    }),
    'text only': (ids, tokens) => ({
      tokens: ids.map((id) => entry({ token: text(bytesOf(tokens, id)) })),
      countedTokens: ids.length,
    }),
    'drops the first space of every token': (ids, tokens) => ({
      tokens: ids.map((id) => exactEntry(Buffer.from(text(bytesOf(tokens, id)).replace(/^ /, '')))),
      countedTokens: ids.length,
    }),
    'drops the space before a point': (ids, tokens) => ({
      tokens: ids.map((id) => exactEntry(Buffer.from(text(bytesOf(tokens, id)).replace(/^ \./, '.')))),
      countedTokens: ids.length,
    }),
  };
  /** A server that changes single tokens does so to every vocabulary of that kind. */
  const kinds: { decoding: SingleTokenDecoding; tokens: (string | number[])[]; servers: string[] }[] = [
    {
      decoding: 'exact',
      tokens: alphabet,
      servers: Object.keys(servers).filter((name) => !name.startsWith('drops')),
    },
    {
      decoding: 'cleaned',
      tokens: alphabet,
      servers: Object.keys(servers).filter((name) => !name.startsWith('drops the first')),
    },
    {
      decoding: 'spaces-stripped',
      tokens: [...alphabet, ...fallbackBytes],
      servers: Object.keys(servers).filter((name) => !name.startsWith('drops the space')),
    },
  ];

  for (const { decoding, tokens, servers: names } of kinds) {
    it.each(names)(`${decoding}: %s`, (name) => {
      const vocabulary = vocabularyOf(tokens, decoding);
      const sampled = fc.array(fc.integer({ min: 1, max: tokens.length - 1 }), { minLength: 1, maxLength: 6 });
      fc.assert(
        fc.property(sampled, fc.boolean(), (inner, isReasoning) => {
          const ids = [...inner, END_ID];
          const said = text(joined(inner.map((id) => bytesOf(tokens, id))));
          const whole = decoding === 'spaces-stripped' && name.startsWith('drops') ? said.replace(/^ /, '') : said;
          const found = recoverIds(
            {
              ...servers[name]!(ids, tokens),
              message: isReasoning ? { reasoning_content: whole, content: '' } : { content: whole },
              endedByModel: true,
            },
            vocabulary,
          );
          if ('ids' in found) expect([ids, inner]).toContainEqual(found.ids);
        }),
        { numRuns: 2_000 },
      );
    });
  }
});
