import { byteLevelBytes, ModelFormatError } from '@hindcast/language-model/text';
import { z } from 'zod';
import { Vocabulary, type SingleTokenDecoding, type VocabularyEntry } from './core/vocabulary';

const TokenId = z.number().int().nonnegative();
/** The parts of tokenizer.json that say what bytes a token stands for (huggingface.co/docs/tokenizers, components). */
const TokenizerFile = z.looseObject({
  model: z.looseObject({
    byte_fallback: z.boolean().nullish(),
    /** BPE: ids by token. Unigram: tokens with their scores, in the order of their ids. */
    vocab: z.union([z.record(z.string(), TokenId), z.array(z.tuple([z.string(), z.number()]))]),
  }),
  decoder: z.looseObject({ type: z.string(), decoders: z.array(z.looseObject({ type: z.string() })).optional() }),
  added_tokens: z
    .array(z.looseObject({ id: TokenId, content: z.string().min(1), special: z.boolean().default(false) }))
    .default([]),
});
type TokenizerFile = z.infer<typeof TokenizerFile>;

const FALLBACK_BYTE = /^<0x([0-9A-F]{2})>$/;

/**
 * The vocabulary of a tokenizer.json: byte-level BPE, or SentencePiece tokens with ▁ for a space and `<0xNN>` for a byte.
 * ModelFormatError for any other.
 */
export function readVocabulary(
  path: string,
  json: unknown,
  config: { clean_up_tokenization_spaces?: unknown },
): Vocabulary {
  const parsed = TokenizerFile.safeParse(json);
  if (!parsed.success)
    throw new ModelFormatError(
      path,
      parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`).join('; '),
    );
  const decoders = [parsed.data.decoder, ...(parsed.data.decoder.decoders ?? [])].map(({ type }) => type);
  if (decoders.includes('ByteLevel')) {
    const decoding = config.clean_up_tokenization_spaces === true ? 'cleaned' : 'exact';
    return vocabularyOf(path, parsed.data, byteLevelBytes, decoding);
  }
  if (!decoders.includes('ByteFallback') && !decoders.includes('Metaspace'))
    throw new ModelFormatError(path, `decoder ${decoders.join(', ')} is neither byte level nor SentencePiece`);
  const hasFallback = parsed.data.model.byte_fallback === true || decoders.includes('ByteFallback');
  return vocabularyOf(path, parsed.data, (token) => sentencePieceBytes(token, hasFallback), 'spaces-stripped');
}

function sentencePieceBytes(token: string, hasFallback: boolean): Uint8Array {
  const byte = hasFallback ? FALLBACK_BYTE.exec(token)?.[1] : undefined;
  return byte === undefined ? Buffer.from(token.replaceAll('▁', ' ')) : Uint8Array.of(Number.parseInt(byte, 16));
}

function vocabularyOf(
  path: string,
  { model, added_tokens }: TokenizerFile,
  bytesOf: (token: string) => Uint8Array | null,
  decoding: SingleTokenDecoding,
): Vocabulary {
  const tokens = Array.isArray(model.vocab)
    ? model.vocab.map(([token], id) => [token, id] as const)
    : Object.entries(model.vocab);
  const added = new Set(added_tokens.map(({ id }) => id));
  const entries: VocabularyEntry[] = [];
  for (const [token, id] of tokens) {
    if (added.has(id)) continue;
    const bytes = bytesOf(token);
    if (!bytes) throw new ModelFormatError(path, `token ${JSON.stringify(token)} is not written in the byte alphabet`);
    entries.push({ id, bytes, isSpecial: false });
  }
  for (const { id, content, special } of added_tokens)
    entries.push({ id, bytes: Buffer.from(content), isSpecial: special });
  return new Vocabulary(entries, decoding);
}
