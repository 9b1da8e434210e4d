import { join } from 'node:path';
import { z } from 'zod';
import { byteLevelBytes } from './byte-level';
import { readJson } from './config';
import { ModelFormatError } from './errors';
import { textEncoder, type TextEncoder } from './text-encoder';

/** A byte-level BPE tokenizer of a Hugging Face directory. */
export interface Tokenizer {
  /** Ids of a text. Marks such as `<|end|>` inside the text become their one id, as in every engine. */
  encode(text: string, options?: { addSpecialTokens?: boolean }): number[];
  /** Text of ids; bytes that are no UTF-8 become U+FFFD. Nothing is trimmed or tidied. */
  decode(ids: Iterable<number>, options?: { skipSpecialTokens?: boolean }): string;
  /** The bytes of one token, possibly half a character; an added token's are its text. RangeError for an unknown id. */
  tokenBytes(id: number): Uint8Array;
  /** An added token marked special (`<|end|>`), which `skipSpecialTokens` leaves out. */
  isSpecial(id: number): boolean;
  /** Id of a token as written in tokenizer.json, or undefined. */
  idOf(token: string): number | undefined;
  /** One more than the largest id. The model's vocabulary may be padded beyond it. */
  readonly vocabSize: number;
}

const AddedToken = z.looseObject({
  id: z.number().int().nonnegative(),
  content: z.string().min(1),
  special: z.boolean().default(false),
});
const TokenizerFile = z.looseObject({
  model: z.looseObject({
    type: z.literal('BPE').default('BPE'),
    vocab: z.record(z.string(), z.number().int().nonnegative()),
  }),
  decoder: z.looseObject({ type: z.string() }),
  added_tokens: z.array(AddedToken).default([]),
});
type TokenizerFile = z.infer<typeof TokenizerFile>;

/** Reads `tokenizer.json` and `tokenizer_config.json`. Refuses any decoder that is not byte level (SentencePiece models). */
export async function loadTokenizer(dir: string): Promise<Tokenizer> {
  const path = join(dir, 'tokenizer.json');
  const json = await readJson(path);
  const parsed = TokenizerFile.safeParse(json);
  if (!parsed.success)
    throw new ModelFormatError(
      path,
      parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`).join('; '),
    );
  if (!isByteLevel(parsed.data.decoder))
    throw new ModelFormatError(path, `decoder ${parsed.data.decoder.type} is not supported; byte-level BPE is`);
  const config = (await readJson(join(dir, 'tokenizer_config.json'))) as object;
  return new ByteLevelTokenizer(path, encoderOf(path, json as object, config), parsed.data);
}

function encoderOf(path: string, json: object, config: object): TextEncoder {
  try {
    return textEncoder(json, config);
  } catch (cause) {
    throw new ModelFormatError(path, cause instanceof Error ? cause.message : 'cannot be read', { cause });
  }
}

function isByteLevel(decoder: { type: string; decoders?: unknown }): boolean {
  if (decoder.type === 'ByteLevel') return true;
  const { decoders } = decoder;
  return (
    decoder.type === 'Sequence' && Array.isArray(decoders) && decoders.length === 1 && decoders[0]?.type === 'ByteLevel'
  );
}

class ByteLevelTokenizer implements Tokenizer {
  readonly vocabSize: number;
  private readonly bytes: (Uint8Array | undefined)[] = [];
  private readonly ids = new Map<string, number>();
  private readonly special = new Set<number>();

  constructor(
    path: string,
    private readonly encoder: TextEncoder,
    file: TokenizerFile,
  ) {
    for (const [token, id] of Object.entries(file.model.vocab)) {
      this.ids.set(token, id);
      // An id of the vocabulary outside the byte alphabet must be an added token; those follow.
      const bytes = byteLevelBytes(token);
      if (bytes) this.bytes[id] = bytes;
    }
    for (const { id, content, special } of file.added_tokens) {
      this.ids.set(content, id);
      this.bytes[id] = Buffer.from(content);
      if (special) this.special.add(id);
    }
    for (const [token, id] of this.ids)
      if (!this.bytes[id])
        throw new ModelFormatError(path, `token ${JSON.stringify(token)} is not written in the byte alphabet`);
    this.vocabSize = this.bytes.length;
  }

  encode(text: string, options: { addSpecialTokens?: boolean } = {}): number[] {
    const { ids } = this.encoder.encode(text, { add_special_tokens: options.addSpecialTokens ?? false });
    return ids.map((id) => {
      if (id === undefined) throw new RangeError('the tokenizer has no token for a piece of this text');
      return id;
    });
  }

  decode(ids: Iterable<number>, options: { skipSpecialTokens?: boolean } = {}): string {
    const pieces: Uint8Array[] = [];
    for (const id of ids) if (!(options.skipSpecialTokens && this.special.has(id))) pieces.push(this.tokenBytes(id));
    // Not Buffer.toString: a byte order mark is text here.
    return new TextDecoder('utf-8', { ignoreBOM: true }).decode(Buffer.concat(pieces));
  }

  tokenBytes(id: number): Uint8Array {
    const bytes = this.bytes[id];
    if (!bytes) throw new RangeError(`no token has the id ${id}`);
    return bytes;
  }

  isSpecial(id: number): boolean {
    return this.special.has(id);
  }

  idOf(token: string): number | undefined {
    return this.ids.get(token);
  }
}
