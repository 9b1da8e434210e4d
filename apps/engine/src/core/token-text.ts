import type { Tokenizer } from '@hindcast/language-model';

/** Tokenizer of a model whose vocabulary may be padded beyond the tokenizer's: a token without a text is empty. */
export type TokenText = Pick<Tokenizer, 'tokenBytes' | 'isSpecial'>;

const NO_BYTES = new Uint8Array();

export function tokenTextOf(tokenizer: Tokenizer, vocabSize: number): TokenText {
  const known = Array.from({ length: vocabSize }, (_, id) => {
    try {
      return tokenizer.tokenBytes(id);
    } catch {
      return NO_BYTES;
    }
  });
  return {
    tokenBytes: (id) => {
      const bytes = known[id];
      if (!bytes) throw new RangeError(`no token has the id ${id}`);
      return bytes;
    },
    isSpecial: (id) => tokenizer.isSpecial(id),
  };
}

/** How one token is shown: its text (U+FFFD for half a character), or `token_id:7` on request. */
export function tokenString(text: TokenText, id: number, asId: boolean): string {
  return asId ? `token_id:${id}` : Buffer.from(text.tokenBytes(id)).toString('utf8');
}
