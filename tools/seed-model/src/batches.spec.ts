import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadTokenizer } from '@hindcast/language-model';
import { batches, rowLengths } from './batches';
import { tokenizerTexts } from './corpus';
import { DocumentEncoder } from './encoded-document';
import { learnTokenizer, markIds, seedModelSize, writeModelFiles } from './model-files';

describe('batches', () => {
  let dir: string;
  let encoder: DocumentEncoder;
  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'hindcast-batches-'));
    await writeModelFiles(dir, seedModelSize, learnTokenizer(tokenizerTexts(0, 3000), seedModelSize.vocabSize));
    encoder = new DocumentEncoder(await loadTokenizer(dir));
  });
  afterAll(() => rm(dir, { recursive: true }));

  it('are the same for the same stream, so that skipping resumes one', () => {
    const [a, b] = [batches(encoder, '1/documents/0', 0), batches(encoder, '1/documents/0', 0)];
    a.next();
    b.next();
    expect(a.next()).toEqual(b.next());
    expect(batches(encoder, '1/documents/1', 0).next()).not.toEqual(batches(encoder, '1/documents/0', 0).next());
  });

  it('have few shapes of similar size, and little padding', () => {
    const stream = batches(encoder, 'shapes', 0);
    const drawn = Array.from({ length: 400 }, () => stream.next().value);
    for (const { rows, length } of drawn) {
      expect(rowLengths).toContain(length);
      expect(rows * length).toBeGreaterThan(800);
      expect(rows * length).toBeLessThanOrEqual(1300);
    }
    const positions = drawn.reduce((sum, { rows, length }) => sum + rows * length, 0);
    const tokens = drawn.reduce((sum, batch) => sum + batch.tokens, 0);
    expect(tokens / positions).toBeGreaterThan(0.85);
  });

  it('ask for the token that follows, and for nothing after a document ends', () => {
    const { tokenIds, targetIds, lossMask, length, rows } = batches(encoder, 'targets', 0).next().value;
    for (let row = 0; row < rows; row += 1) {
      const read = [...tokenIds.slice(row * length, (row + 1) * length)];
      const asked = [...targetIds.slice(row * length, (row + 1) * length)];
      const learned = [...lossMask.slice(row * length, (row + 1) * length)];
      const last = asked.lastIndexOf(markIds.end);
      expect(read[0]).toBe(markIds.bos);
      expect(asked.slice(0, last)).toEqual(read.slice(1, last + 1));
      expect(learned[last]).toBe(1);
      expect([...asked.slice(last + 1), ...learned.slice(last + 1)].filter((value) => value !== 0)).toEqual([]);
    }
  });
});
