import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { ModelFormatError } from './errors';
import { StreamDecoder } from './stream-decoder';
import { SEED_DIR } from './testing/models';
import { temporaryFolder } from './testing/temporary-folder';
import { loadTokenizer, type Tokenizer } from './tokenizer';

const folder = temporaryFolder();
let tokenizer: Tokenizer;
beforeAll(async () => {
  tokenizer = await loadTokenizer(SEED_DIR);
});

const marks = ['<|pad|>', '<|system|>', '<|user|>', '<|assistant|>', '<|end|>', '<|bos|>'];
// Any text; a lone surrogate has no UTF-8.
const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ unit: 'grapheme' }),
  fc
    .array(fc.constantFrom('Sam has 12 apples', '\n', '  ', '😀', 'é', '\uFEFF', ...marks))
    .map((parts) => parts.join('')),
);

describe('tokenizer of the seed model', () => {
  it('brings any text back from its ids', () => {
    fc.assert(
      fc.property(text, (written) => expect(tokenizer.decode(tokenizer.encode(written))).toBe(written)),
      { numRuns: 500 },
    );
  });

  it('has ids whose bytes, joined, are the text in UTF-8', () => {
    fc.assert(
      fc.property(text, (written) => {
        expect(Buffer.concat(tokenizer.encode(written).map((id) => tokenizer.tokenBytes(id))).toString('hex')).toBe(
          Buffer.from(written).toString('hex'),
        );
      }),
    );
  });

  it('reads half of a surrogate pair as U+FFFD', () => {
    expect(tokenizer.decode(tokenizer.encode('a\uD83Db'))).toBe('a\uFFFDb');
  });

  it('gives every mark its one id, and leaves special ones out on request', () => {
    expect(tokenizer.encode('<|user|>Hi<|end|>')).toEqual([2, ...tokenizer.encode('Hi'), 4]);
    expect(marks.map((mark) => tokenizer.idOf(mark))).toEqual([0, 1, 2, 3, 4, 5]);
    expect(tokenizer.decode([2, ...tokenizer.encode('Hi'), 4], { skipSpecialTokens: true })).toBe('Hi');
    expect(Buffer.from(tokenizer.tokenBytes(4)).toString()).toBe('<|end|>');
    expect(tokenizer.isSpecial(4)).toBe(true);
    expect(tokenizer.vocabSize).toBe(1024);
  });

  it('tidies no space before punctuation away and decodes nothing as nothing', () => {
    expect(tokenizer.decode(tokenizer.encode("it is n't , he 's .  "))).toBe("it is n't , he 's .  ");
    expect(tokenizer.decode([])).toBe('');
    expect(tokenizer.encode('')).toEqual([]);
  });

  it('refuses an id that it does not have', () => {
    expect(() => tokenizer.decode([1024])).toThrow('no token has the id 1024');
    expect(tokenizer.idOf('no such token')).toBeUndefined();
  });

  it('refuses a tokenizer that is not byte level', async () => {
    const file = JSON.parse(await readFile(join(SEED_DIR, 'tokenizer.json'), 'utf8'));
    await writeFile(join(folder(), 'tokenizer.json'), JSON.stringify({ ...file, decoder: { type: 'Metaspace' } }));
    await expect(loadTokenizer(folder())).rejects.toThrow('decoder Metaspace is not supported');
  });

  it('refuses as a model format what its encoder cannot use', async () => {
    const file = JSON.parse(await readFile(join(SEED_DIR, 'tokenizer.json'), 'utf8'));
    await writeFile(join(folder(), 'tokenizer_config.json'), '{}');
    await writeFile(join(folder(), 'tokenizer.json'), JSON.stringify({ ...file, pre_tokenizer: { type: 'Unheard' } }));
    await expect(loadTokenizer(folder())).rejects.toThrow(ModelFormatError);
  });
});

describe('StreamDecoder', () => {
  it.each([false, true])('joins to the whole text, whatever the ids (skipSpecialTokens %s)', (skipSpecialTokens) => {
    // Bytes are ids 6 to 261: broken UTF-8 is the rule here.
    const someIds = fc.array(fc.oneof(fc.integer({ min: 0, max: 261 }), fc.integer({ min: 0, max: 1023 })), {
      maxLength: 30,
    });
    fc.assert(
      fc.property(someIds, (ids) => {
        const decoder = new StreamDecoder(tokenizer, { skipSpecialTokens });
        const pieces = ids.map((id) => decoder.push(id));
        expect([...pieces, decoder.end()].join('')).toBe(tokenizer.decode(ids, { skipSpecialTokens }));
      }),
      { numRuns: 500 },
    );
  });

  it('never cuts a character, wherever the bytes are cut', () => {
    const written = 'aé€😀\uFEFFz';
    const ids = [...Buffer.from(written)].map((byte) => byteId(byte));
    for (let cut = 0; cut <= ids.length; cut++) {
      const decoder = new StreamDecoder(tokenizer);
      const before = ids
        .slice(0, cut)
        .map((id) => decoder.push(id))
        .join('');
      expect(written.startsWith(before)).toBe(true);
      expect(
        before +
          ids
            .slice(cut)
            .map((id) => decoder.push(id))
            .join('') +
          decoder.end(),
      ).toBe(written);
    }
  });

  it('ends an unfinished character with U+FFFD and is then as new', () => {
    const decoder = new StreamDecoder(tokenizer);
    expect([
      decoder.push(byteId(0xf0)),
      decoder.push(byteId(0x9f)),
      decoder.end(),
      decoder.push(byteId(0x61)),
      decoder.end(),
    ]).toEqual(['', '', '\uFFFD', 'a', '']);
  });

  /** The id of the token that is this one byte. */
  function byteId(byte: number): number {
    for (let id = 6; id < 262; id++)
      if (tokenizer.tokenBytes(id)[0] === byte && tokenizer.tokenBytes(id).length === 1) return id;
    throw new RangeError(`no token for byte ${byte}`);
  }
});
