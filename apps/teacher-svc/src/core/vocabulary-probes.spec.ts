import { vocabularyDifference, vocabularyProbes } from './vocabulary-probes';

const ids = (...lists: number[][]): Map<string, number[]> => new Map(lists.map((list, i) => [`probe ${i}`, list]));

it.each([
  { reason: 'the same ids', policy: ids([1, 2], [3]), teacher: ids([1, 2], [3]), difference: null },
  {
    reason: 'another id',
    policy: ids([1, 2]),
    teacher: ids([1, 5]),
    difference: /"probe 0" has 2 ids .* at 1: 2 and 5/,
  },
  { reason: 'a token more', policy: ids([1, 2]), teacher: ids([1, 2, 3]), difference: /at 2: none and 3/ },
  { reason: 'a difference in the last probe', policy: ids([1], [2]), teacher: ids([1], [3]), difference: /"probe 1"/ },
  { reason: 'a probe without an answer', policy: ids([1], [2]), teacher: ids([1]), difference: /0 for the teacher/ },
])('$reason: $difference', ({ policy, teacher, difference }) => {
  if (difference === null) expect(vocabularyDifference(policy, teacher)).toBeNull();
  else expect(vocabularyDifference(policy, teacher)).toMatch(difference);
});

it('has scripts, code, white space, digits, emoji and marks', () => {
  expect(Object.keys(vocabularyProbes)).toEqual(
    expect.arrayContaining(['cjk', 'code', 'whitespace', 'digits', 'emoji', 'marks']),
  );
});
