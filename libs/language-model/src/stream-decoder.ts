import type { Tokenizer } from './tokenizer';

/**
 * Turns ids into text piece by piece: bytes of an unfinished character wait for the next id. The pieces of `push` and `end`,
 * joined, are exactly `tokenizer.decode` of all ids.
 */
export class StreamDecoder {
  private readonly decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  private readonly skipSpecialTokens: boolean;

  constructor(
    private readonly tokenizer: Pick<Tokenizer, 'tokenBytes' | 'isSpecial'>,
    options: { skipSpecialTokens?: boolean } = {},
  ) {
    this.skipSpecialTokens = options.skipSpecialTokens ?? false;
  }

  /** The text that this id completes; often a word, '' inside a character. */
  push(id: number): string {
    if (this.skipSpecialTokens && this.tokenizer.isSpecial(id)) return '';
    return this.decoder.decode(this.tokenizer.tokenBytes(id), { stream: true });
  }

  /** What still waits: U+FFFD for a character that never ended, else ''. The decoder is then as new. */
  end(): string {
    return this.decoder.decode();
  }
}
