import type { TokenEntry } from '../core/token-entry';
import { Vocabulary, type SingleTokenDecoding, type VocabularyEntry } from '../core/vocabulary';

/** A token's place in the list is its id. */
export function vocabularyOf(
  tokens: readonly (string | number[])[],
  decoding: SingleTokenDecoding = 'exact',
): Vocabulary {
  return new Vocabulary(
    tokens.map((token, id): VocabularyEntry => ({
      id,
      bytes: Buffer.from(token as string),
      isSpecial: typeof token === 'string' && token.startsWith('<|'),
    })),
    decoding,
  );
}

/** What an engine says of a token: these fields, and nothing else. */
export const entry = (over: Partial<TokenEntry>): TokenEntry => ({
  token: null,
  bytes: null,
  id: null,
  hasAlternatives: false,
  ...over,
});
