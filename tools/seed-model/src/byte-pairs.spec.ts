import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ChatTemplate, loadTokenizer, type Tokenizer } from '@hindcast/language-model';
import { conversation, random } from '@hindcast/seed-world';
import { cutIntoWords, learnBytePairs } from './byte-pairs';
import { tokenizerTexts } from './corpus';
import { DocumentEncoder } from './encoded-document';
import { learnTokenizer, markIds, seedModelSize, writeModelFiles } from './model-files';

describe('learnBytePairs', () => {
  const merges = (text: string, size: number): string[] =>
    learnBytePairs([text], 256 + size, []).merges.map((merge) => merge.join('+'));

  it('merges the most frequent pair first', () => {
    expect(merges('ab ab ab cd', 1)).toEqual(['a+b']);
  });

  it('of equally frequent pairs takes the one with the smaller ids', () => {
    expect(merges('zy,zy,ab,ab', 2)).toEqual(['a+b', 'z+y']);
    expect(merges('ba,ba,ab,ab', 1)).toEqual(['a+b']);
  });

  it('counts a word as often as it occurs', () => {
    expect(merges('xy xy xy,ab,ab', 1)).toEqual(['x+y']);
  });

  it('stops when no pair occurs twice', () => {
    expect(merges('abc', 10)).toEqual([]);
  });

  it('does not merge across words', () => {
    expect(merges('a1a1a1a1', 10)).toEqual([]);
  });

  it('replaces runs from the left', () => {
    expect(learnBytePairs(['aaa aaa'], 257, []).words.get('aaa')).toHaveLength(2);
  });
});

describe('cutIntoWords', () => {
  it.each([
    ["It's 12 + 4!", ['It', "'s", ' 12', ' +', ' 4', '!']],
    ['a  b\n\nc', ['a', ' ', ' b', '\n', '\n', 'c']],
    ['**\\boxed{4}**', ['**\\', 'boxed', '{', '4', '}**']],
    ['zwölf Äpfel', ['zwölf', ' Äpfel']],
  ])('cuts %j as GPT-2 does', (text, words) => {
    expect(cutIntoWords(text)).toEqual(words);
    expect(words.join('')).toBe(text);
  });
});

describe('the seed tokenizer', () => {
  const learned = learnTokenizer(tokenizerTexts(0, 3000), seedModelSize.vocabSize);
  let dir: string;
  let tokenizer: Tokenizer;
  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'hindcast-tokenizer-'));
    await writeModelFiles(dir, seedModelSize, learned);
    tokenizer = await loadTokenizer(dir);
  });
  afterAll(() => rm(dir, { recursive: true }));

  it('has 1024 different tokens, the marks first', () => {
    expect(new Set(learned.tokens).size).toBe(1024);
    expect(tokenizer.vocabSize).toBe(1024);
    expect(Object.entries(markIds).map(([mark, id]) => [tokenizer.idOf(`<|${mark}|>`), id])).toEqual(
      Object.values(markIds).map((id) => [id, id]),
    );
  });

  it('is read by @huggingface/tokenizers, which cuts every word as the learner did', () => {
    for (const [word, ids] of learned.words) expect([word, tokenizer.encode(word)]).toEqual([word, ids]);
  });

  it('encodes whole texts as their words, also texts it never saw', () => {
    const encoder = new DocumentEncoder(tokenizer);
    const texts = ['  Zwölf "quoted"\t\ttabs – and 1234567890!\n\n', "don't ''s", '', '日本語🙂'];
    for (const content of [...texts, ...tokenizerTexts(99, 300)]) {
      const { tokenIds } = encoder.encode({ messages: [{ role: 'user', content }] });
      expect(tokenIds).toEqual([markIds.bos, markIds.user, ...tokenizer.encode(content), markIds.end]);
      expect(tokenizer.decode(tokenIds.slice(2, -1))).toBe(content);
    }
  });

  it('encodes a prompt as the chat template writes it', async () => {
    const messages = [
      { role: 'system', content: 'You are a helpful assistant.' },
      { role: 'user', content: 'What is 2 * 3? Anna counts cups to find out.' },
      { role: 'assistant', content: 'The answer is **6** cups.' },
      { role: 'user', content: 'No, not like that.' },
    ] as const;
    const template = await ChatTemplate.load(dir);
    expect(new DocumentEncoder(tokenizer).encodePrompt(messages)).toEqual(tokenizer.encode(template.render(messages)));
  });

  it('learns what the assistant says and the mark after it, nothing else', () => {
    const encoder = new DocumentEncoder(tokenizer);
    const rng = random('mask');
    for (let i = 0; i < 100; i += 1) {
      const document = conversation(rng);
      const { tokenIds, lossMask } = encoder.encode(document);
      const learnedText = tokenizer.decode(tokenIds.filter((_, index) => lossMask[index] === 1));
      const said = document.messages.filter(({ role }) => role === 'assistant');
      expect(learnedText).toBe(said.map(({ content }) => `${content}<|end|>`).join(''));
    }
  });
});
