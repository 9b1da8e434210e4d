import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readModelConfig, type LlamaConfig } from './config';
import { ModelFormatError } from './errors';
import { SEED_DIR } from './testing/models';
import { temporaryFolder } from './testing/temporary-folder';
import { assertTokenizerFits } from './tokenizer-fit';

interface TokenizerFile {
  model: { vocab: Record<string, number> | [string, number][] };
  added_tokens: { id: number; content: string }[];
}

const folder = temporaryFolder();
let config: LlamaConfig;
beforeAll(async () => {
  config = await readModelConfig(SEED_DIR);
});

async function directory(change: (file: TokenizerFile) => void, tokenizerConfig: object = {}): Promise<string> {
  const dir = join(folder(), 'model');
  await mkdir(dir, { recursive: true });
  const file = JSON.parse(await readFile(join(SEED_DIR, 'tokenizer.json'), 'utf8')) as TokenizerFile;
  change(file);
  await writeFile(join(dir, 'tokenizer.json'), JSON.stringify(file));
  await writeFile(join(dir, 'tokenizer_config.json'), JSON.stringify(tokenizerConfig));
  return dir;
}

const as = (change: Partial<LlamaConfig>): LlamaConfig => ({ ...config, ...change });

describe('a tokenizer that matches its model', () => {
  it('passes: the seed model', async () => {
    await expect(assertTokenizerFits(SEED_DIR, config)).resolves.toBeUndefined();
  });

  it('passes with a vocabulary that is padded, and with added tokens named a second time', async () => {
    const dir = await directory(() => undefined, { added_tokens_decoder: { 4: { content: '<|end|>' } } });
    await expect(assertTokenizerFits(dir, as({ vocabSize: 1088 }))).resolves.toBeUndefined();
  });

  it('passes where the vocabulary is a list of scored pieces', async () => {
    const dir = await directory((file) => {
      file.model.vocab = Array.from({ length: 1024 }, (_, i): [string, number] => [`piece ${i}`, -i]);
      file.added_tokens = [];
    });
    await expect(assertTokenizerFits(dir, config)).resolves.toBeUndefined();
  });

  it('passes where there is none: such a model is served elsewhere', async () => {
    const dir = join(folder(), 'weights-only');
    await cp(SEED_DIR, dir, { recursive: true });
    await rm(join(dir, 'tokenizer.json'));
    await expect(assertTokenizerFits(dir, config)).resolves.toBeUndefined();
  });
});

describe('a tokenizer that does not match its model is refused', () => {
  it.each([
    { why: 'more tokens than the model has rows', model: { vocabSize: 1000 }, error: 'the model has 1000' },
    { why: 'another model’s end', model: { eosTokenIds: [4, 151645] }, error: 'no token has the id 151645' },
    { why: 'padding without a row', model: { padTokenId: 1024 }, error: 'pad_token_id is 1024, the model has 1024' },
    { why: 'a start without a row', model: { bosTokenId: 2000 }, error: 'bos_token_id is 2000' },
  ])('$why', async ({ model, error }) => {
    await expect(assertTokenizerFits(SEED_DIR, as(model))).rejects.toThrow(ModelFormatError);
    await expect(assertTokenizerFits(SEED_DIR, as(model))).rejects.toThrow(error);
  });

  it.each([
    {
      why: 'an added token behind the last row',
      change: (file: TokenizerFile) => file.added_tokens.push({ id: 1024, content: '<|new|>' }),
      error: 'token "<|new|>" has the id 1024, the model has 1024',
    },
    {
      why: 'two tokens with one id',
      change: (file: TokenizerFile) => file.added_tokens.push({ id: 7, content: '<|new|>' }),
      error: 'and "<|new|>" have the same id 7',
    },
    {
      why: 'an id below zero',
      change: (file: TokenizerFile) => file.added_tokens.push({ id: -1, content: '<|new|>' }),
      error: 'added_tokens.6.id',
    },
    {
      why: 'no vocabulary',
      change: (file: TokenizerFile) => Object.assign(file, { model: {} }),
      error: 'model.vocab',
    },
  ])('$why', async ({ change, error }) => {
    const dir = await directory(change);
    await expect(assertTokenizerFits(dir, config)).rejects.toThrow(ModelFormatError);
    await expect(assertTokenizerFits(dir, config)).rejects.toThrow(error);
  });

  it('a token that only tokenizer_config.json adds', async () => {
    const dir = await directory(() => undefined, { added_tokens_decoder: { 1024: { content: '<|new|>' } } });
    await expect(assertTokenizerFits(dir, config)).rejects.toThrow('token "<|new|>" has the id 1024');
  });

  it('a file that is no JSON', async () => {
    const dir = await directory(() => undefined);
    await writeFile(join(dir, 'tokenizer.json'), '{');
    await expect(assertTokenizerFits(dir, config)).rejects.toThrow(ModelFormatError);
  });
});
