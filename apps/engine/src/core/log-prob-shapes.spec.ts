import { promptLogProbs } from './log-prob-shapes';
import type { TokenText } from './token-text';

const text: TokenText = { tokenBytes: (id: number) => Buffer.from(`t${id}`) } as unknown as TokenText;
const ranks = (entry: object | null): [string, number][] =>
  Object.entries(entry ?? {}).map(([id, { rank }]) => [id, (rank as number) ?? 0]);

it.each([
  {
    reason: 'the token is among the likeliest, and another one is as likely: each rank once',
    score: { id: 3, logProb: -1, rank: 2 },
    expected: [
      ['3', 1],
      ['5', 2],
    ],
  },
  {
    reason: 'the token is not among them: one entry more',
    score: { id: 9, logProb: -4, rank: 7 },
    expected: [
      ['3', 1],
      ['5', 2],
      ['9', 7],
    ],
  },
])('$reason', ({ score, expected }) => {
  const top = [
    { id: 3, logProb: -1 },
    { id: 5, logProb: -1 },
  ];
  const [first, entry] = promptLogProbs(text, [{ ...score, top }], 2);
  expect(first).toBeNull();
  expect(ranks(entry!)).toEqual(expected);
});
