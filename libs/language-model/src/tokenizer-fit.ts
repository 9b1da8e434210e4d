import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { readJson, type LlamaConfig } from './config';
import { ModelFormatError } from './errors';

const id = z.number().int().nonnegative();
const TokenizerFile = z.looseObject({
  model: z.looseObject({
    // A map for byte-pair and word-piece models, pieces with their scores for unigram ones.
    vocab: z.union([z.record(z.string(), id), z.array(z.tuple([z.string(), z.number()]))]),
  }),
  added_tokens: z.array(z.looseObject({ id, content: z.string() })).default([]),
});
const TokenizerConfigFile = z.looseObject({
  added_tokens_decoder: z.record(z.string(), z.looseObject({ content: z.string() })).nullish(),
});

/**
 * Throws a ModelFormatError where a directory's tokenizer gives ids that its model has no row for, or the model ends at ids that
 * the tokenizer does not know, or two tokens share an id. The vocabulary of a model may be larger, padded to a round number. A
 * directory without tokenizer.json passes: then nobody tokenises with it.
 */
export async function assertTokenizerFits(dir: string, config: LlamaConfig): Promise<void> {
  const path = join(dir, 'tokenizer.json');
  if (!existsSync(path)) return;
  const refuse = (problem: string): never => {
    throw new ModelFormatError(path, `${problem}; the tokenizer does not match config.json`);
  };
  const { vocabSize } = config;
  const tokens = new Map<number, string>();
  for (const [token, tokenId] of [...(await tokensOf(path)), ...(await addedInConfig(dir))]) {
    const shown = JSON.stringify(token);
    if (tokenId >= vocabSize) refuse(`token ${shown} has the id ${tokenId}, the model has ${vocabSize}`);
    const other = tokens.get(tokenId);
    if (other !== undefined && other !== token)
      refuse(`tokens ${JSON.stringify(other)} and ${shown} have the same id ${tokenId}`);
    tokens.set(tokenId, token);
  }
  for (const tokenId of config.eosTokenIds)
    if (!tokens.has(tokenId)) refuse(`no token has the id ${tokenId}, at which the model ends an answer`);
  for (const [name, tokenId] of [
    ['bos_token_id', config.bosTokenId],
    ['pad_token_id', config.padTokenId],
  ] as const)
    if (tokenId !== null && tokenId >= vocabSize) refuse(`${name} is ${tokenId}, the model has ${vocabSize}`);
}

async function tokensOf(path: string): Promise<[string, number][]> {
  const parsed = TokenizerFile.safeParse(await readJson(path));
  if (!parsed.success)
    throw new ModelFormatError(
      path,
      parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`).join('; '),
    );
  const { model, added_tokens: added } = parsed.data;
  const vocab = Array.isArray(model.vocab)
    ? model.vocab.map(([piece], at): [string, number] => [piece, at])
    : Object.entries(model.vocab);
  return [...vocab, ...added.map(({ content, id: tokenId }): [string, number] => [content, tokenId])];
}

/** Tokens that transformers adds from tokenizer_config.json, whether tokenizer.json has them or not. */
async function addedInConfig(dir: string): Promise<[string, number][]> {
  const path = join(dir, 'tokenizer_config.json');
  if (!existsSync(path)) return [];
  const parsed = TokenizerConfigFile.safeParse(await readJson(path));
  if (!parsed.success) throw new ModelFormatError(path, 'added_tokens_decoder is not an object of tokens by id');
  return Object.entries(parsed.data.added_tokens_decoder ?? {}).map(([key, { content }]) => [content, Number(key)]);
}
