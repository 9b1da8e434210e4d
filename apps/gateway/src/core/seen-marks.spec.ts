import { createHash } from 'node:crypto';
import { isMarked, marksFrom, MARKS_BYTES, noMarks, withMarks } from './seen-marks';

const hashes = (count: number, name: string): string[] =>
  Array.from({ length: count }, (_, index) => createHash('sha256').update(`${name} ${index}`).digest('hex'));
const found = (marks: Uint8Array, looked: readonly string[]): number =>
  looked.filter((hash) => isMarked(marks, hash)).length;

describe('marks of what was seen', () => {
  it.each([
    { entries: 0, mistakes: 0 },
    { entries: 300, mistakes: 3 },
    { entries: 3_000, mistakes: 30 },
  ])('$entries entries are all found, and of a thousand others at most $mistakes', ({ entries, mistakes }) => {
    const seen = hashes(entries, 'seen');
    const marks = seen.reduce((before, hash) => withMarks(before, [hash]), noMarks());
    expect(found(marks, seen)).toBe(entries);
    expect(found(marks, hashes(1_000, 'other'))).toBeLessThanOrEqual(mistakes);
  });

  it('are the same where nothing is new, and others where something is', () => {
    const [old, fresh] = [hashes(3, 'old'), hashes(1, 'fresh')];
    const marks = Buffer.from(withMarks(noMarks(), old));
    expect(withMarks(marks, old)).toBe(marks);
    const more = withMarks(marks, [...old, ...fresh]);
    expect([found(marks, fresh), found(more, fresh)]).toEqual([0, 1]);
  });

  it('of another size hold everything', () => {
    expect(found(marksFrom(new Uint8Array(MARKS_BYTES - 1)), hashes(10, 'any'))).toBe(10);
    expect(found(marksFrom(noMarks()), hashes(10, 'any'))).toBe(0);
  });
});
