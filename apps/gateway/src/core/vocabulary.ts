/** One id of a vocabulary with the bytes that it stands for; a special token's are its text. */
export interface VocabularyEntry {
  readonly id: number;
  readonly bytes: Uint8Array;
  /** A mark such as `<|im_end|>`, which servers leave out of the text. */
  readonly isSpecial: boolean;
}

/**
 * How a server that decodes every token alone may show it otherwise than inside a text. `exact`: never (byte-level BPE).
 * `cleaned`: without a space before punctuation (`clean_up_tokenization_spaces`). `spaces-stripped`: without its first space
 * (SentencePiece and its ▁).
 */
export type SingleTokenDecoding = 'exact' | 'cleaned' | 'spaces-stripped';

/** Bytes as a string with one character a byte: a key that compares by value. */
export type ByteString = string;
export const byteString = (bytes: ArrayLike<number>): ByteString => Buffer.from(bytes).toString('latin1');
export const textBytes = (text: string): ByteString => Buffer.from(text, 'utf8').toString('latin1');

const SEVERAL = -1;

/** Ids by bytes and bytes by id. For 150,000 entries about 15 MB. */
export class Vocabulary {
  private readonly byBytes = new Map<ByteString, number>();
  private readonly byId: (ByteString | undefined)[] = [];
  private readonly special = new Set<number>();

  /** Of two entries with one id the later counts. */
  constructor(
    entries: Iterable<VocabularyEntry>,
    readonly decoding: SingleTokenDecoding,
  ) {
    for (const { id, bytes, isSpecial } of entries) {
      this.byId[id] = byteString(bytes);
      if (isSpecial) this.special.add(id);
    }
    this.byId.forEach((bytes, id) => {
      if (bytes !== undefined) this.byBytes.set(bytes, this.byBytes.has(bytes) ? SEVERAL : id);
    });
  }

  /** Ids that stand for something. */
  get size(): number {
    return this.byId.reduce((count, bytes) => (bytes === undefined ? count : count + 1), 0);
  }

  /** The only id with these bytes; `several` when more than one has them. */
  idOf(bytes: ByteString): number | 'several' | null {
    const id = this.byBytes.get(bytes);
    return id === SEVERAL ? 'several' : (id ?? null);
  }

  bytesOf(id: number): ByteString | null {
    return this.byId[id] ?? null;
  }

  isSpecial(id: number): boolean {
    return this.special.has(id);
  }
}
