import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadTokenizer, type Tokenizer } from '@hindcast/language-model';
import fc from 'fast-check';
import { recoverIds } from './core/token-recovery';
import { ServedModel } from './served-model';
import { readVocabulary } from './vocabulary-file';

const SEED_DIR = join(__dirname, '../../../models/seed');
const END = 4;

let model: ServedModel;
let tokenizer: Tokenizer;
let folder: string;
beforeAll(async () => {
  model = await ServedModel.load(SEED_DIR);
  tokenizer = await loadTokenizer(SEED_DIR);
  folder = mkdtempSync(join(tmpdir(), 'hindcast-model-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** As a server shows it whose tokens have bytes. */
const shown = (ids: readonly number[]) =>
  ids.map((id) => ({
    token: tokenizer.decode([id]),
    bytes: [...tokenizer.tokenBytes(id)],
    id: null,
    hasAlternatives: false,
  }));

describe('the seed model', () => {
  it('has the vocabulary that the engine has', () => {
    expect(model.vocabulary.size).toBe(tokenizer.vocabSize);
    expect(model.vocabulary.decoding).toBe('exact');
  });

  it('lets the ids of any answer be found from its bytes', () => {
    const id = fc.integer({ min: END + 2, max: tokenizer.vocabSize - 1 });
    fc.assert(
      fc.property(fc.array(id, { minLength: 1, maxLength: 40 }), fc.boolean(), (said, hidesEnd) => {
        const ids = hidesEnd ? said : [...said, END];
        const content = tokenizer.decode(said);
        const isText = Buffer.from(content).equals(Buffer.concat(said.map((one) => tokenizer.tokenBytes(one))));
        const found = recoverIds(
          { tokens: shown(ids), message: { content }, endedByModel: true, countedTokens: ids.length },
          model.vocabulary,
        );
        // Bytes that are no text came as U+FFFD: what the client got is not what was sampled.
        expect(found).toEqual(
          isText
            ? { ids, hiddenTokens: 0 }
            : { reason: 'ambiguous-tokens', detail: "the tokens are not the answer's text" },
        );
      }),
    );
  });

  it('finds the ids of any text as it was tokenised', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 1 }), (content) => {
        const ids = [...tokenizer.encode(content), END];
        expect(
          recoverIds(
            { tokens: shown(ids), message: { content }, endedByModel: true, countedTokens: ids.length },
            model.vocabulary,
          ),
        ).toEqual({ ids, hiddenTokens: 0 });
      }),
    );
  });

  it('writes a prompt as the engine does', () => {
    const messages = [
      { role: 'system', content: 'Be kind.' },
      { role: 'user', content: 'Hello' },
    ];
    const text = '<|bos|><|system|>Be kind.<|end|><|user|>Hello<|end|><|assistant|>';
    expect(model.promptCandidates({ messages, tools: null, templateArguments: {} }).next().value).toEqual(
      tokenizer.encode(text),
    );
  });
});

/** Two single letters, and what the test needs besides. */
function writeModel(over: {
  postProcessor?: object;
  template?: string;
  config?: object;
  decoder?: object;
  vocab?: object;
}) {
  const vocab = over.vocab ?? { a: 2, b: 3 };
  writeFileSync(
    join(folder, 'tokenizer.json'),
    JSON.stringify({
      version: '1.0',
      added_tokens: [0, 1].map((id) => ({ id, content: ['<s>', '</s>'][id], special: true, normalized: false })),
      normalizer: null,
      pre_tokenizer: { type: 'ByteLevel', add_prefix_space: false, use_regex: true },
      post_processor: over.postProcessor ?? null,
      decoder: over.decoder ?? { type: 'ByteLevel' },
      model: { type: 'BPE', vocab: { '<s>': 0, '</s>': 1, ...vocab }, merges: [] },
    }),
  );
  writeFileSync(
    join(folder, 'tokenizer_config.json'),
    JSON.stringify({
      tokenizer_class: 'PreTrainedTokenizerFast',
      bos_token: '<s>',
      chat_template: over.template ?? '{{ messages[0].content }}',
      ...over.config,
    }),
  );
}

const bosFirst = {
  type: 'TemplateProcessing',
  single: [{ SpecialToken: { id: '<s>', type_id: 0 } }, { Sequence: { id: 'A', type_id: 0 } }],
  pair: [],
  special_tokens: { '<s>': { id: '<s>', ids: [0], tokens: ['<s>'] } },
};
const request = { messages: [{ role: 'user', content: 'ab' }], tools: null, templateArguments: {} };

describe('prompts of a tokenizer with marks of its own', () => {
  it('may have them or not where the template names none', async () => {
    writeModel({ postProcessor: bosFirst });
    const served = await ServedModel.load(folder);
    expect([...served.promptCandidates(request)]).toEqual([
      [2, 3],
      [0, 2, 3],
    ]);
  });

  it('have them once where the template writes them', async () => {
    writeModel({ postProcessor: bosFirst, template: '{{ bos_token }}{{ messages[0].content }}' });
    const served = await ServedModel.load(folder);
    expect([...served.promptCandidates(request)]).toEqual([[0, 2, 3]]);
  });

  it('pass on what the template raises', async () => {
    writeModel({ template: "{{ raise_exception('no system message') }}" });
    const served = await ServedModel.load(folder);
    expect(() => [...served.promptCandidates(request)]).toThrow();
  });

  it('see tools and template arguments', async () => {
    writeModel({ template: "{{ 'a' if tools else '' }}{{ 'b' if think else '' }}" });
    const served = await ServedModel.load(folder);
    const asked = { ...request, tools: [{ type: 'function' }], templateArguments: { think: true } };
    expect(served.promptCandidates(asked).next().value).toEqual([2, 3]);
  });
});

describe('readVocabulary', () => {
  const file = (over: object) => ({
    added_tokens: [{ id: 0, content: '<s>', special: true }],
    decoder: { type: 'Sequence', decoders: [{ type: 'Replace' }, { type: 'ByteFallback' }, { type: 'Fuse' }] },
    model: { vocab: { '<s>': 0, '▁Hi': 1, '<0xC3>': 2, é: 3, '▁▁': 4 }, byte_fallback: true },
    ...over,
  });
  const read = (json: object, config: object = {}) => readVocabulary('tokenizer.json', json, config);

  it('reads SentencePiece tokens: ▁ is a space, <0xNN> a byte', () => {
    const vocabulary = read(file({}));
    expect([0, 1, 2, 3, 4].map((id) => vocabulary.bytesOf(id))).toEqual(['<s>', ' Hi', '\xC3', '\xC3\xA9', '  ']);
    expect(vocabulary.decoding).toBe('spaces-stripped');
    expect([vocabulary.isSpecial(0), vocabulary.isSpecial(1)]).toEqual([true, false]);
  });

  it('finds two tokens of equal bytes: a letter, and its fallback byte', () => {
    const vocabulary = read(file({ model: { vocab: { '<0x41>': 1, A: 2 }, byte_fallback: true } }));
    expect(vocabulary.idOf('A')).toBe('several');
  });

  it('reads Unigram vocabularies, whose ids are places', () => {
    const vocabulary = read(
      file({
        decoder: { type: 'Metaspace' },
        added_tokens: [],
        model: {
          vocab: [
            ['<unk>', 0],
            ['▁a', -1.5],
          ],
        },
      }),
    );
    expect(vocabulary.idOf(' a')).toBe(1);
  });

  it('knows byte-level vocabularies whose decoder tidies spaces', () => {
    const json = file({ decoder: { type: 'ByteLevel' }, model: { vocab: { '<s>': 0, Ġa: 1 } } });
    expect(read(json).decoding).toBe('exact');
    const tidied = read(json, { clean_up_tokenization_spaces: true });
    expect(tidied.decoding).toBe('cleaned');
    expect(tidied.idOf(' a')).toBe(1);
  });

  it.each([
    { why: 'another decoder', json: file({ decoder: { type: 'WordPiece' } }), message: 'neither byte level nor' },
    { why: 'no vocabulary', json: file({ model: {} }), message: 'model.vocab' },
    {
      why: 'a token outside the byte alphabet',
      json: file({ decoder: { type: 'ByteLevel' }, model: { vocab: { 日: 1 } } }),
      message: 'byte alphabet',
    },
  ])('refuses $why', ({ json, message }) => {
    expect(() => read(json)).toThrow(message);
  });

  it('refuses a folder without its files', async () => {
    await expect(ServedModel.load(join(folder, 'none'))).rejects.toThrow('tokenizer.json');
  });
});

it('loads no tensors into the gateway', () => {
  const register = join(__dirname, '../../../libs/platform/src/testing/register.cjs');
  const script = `require(${JSON.stringify(join(__dirname, 'recovery-thread.ts'))});
    require(${JSON.stringify(join(__dirname, 'served-model.ts'))});
    console.log(JSON.stringify(Object.keys(require.cache).filter((file) => /tensorflow|onnxruntime|jinja/.test(file))));`;
  const { stdout } = spawnSync(process.execPath, ['-r', register, '-e', script], { encoding: 'utf8' });
  const loaded = JSON.parse(stdout) as string[];
  expect(loaded.filter((file) => file.includes('jinja'))).not.toEqual([]);
  expect(loaded.filter((file) => !file.includes('jinja'))).toEqual([]);
});
