import type { TopK } from '@hindcast/contracts';
import { sameTopK, topKProblem } from './top-k';

const topK = (k: number, rows: readonly (readonly [id: number, logProb: number])[]): TopK => ({
  k,
  ids: Int32Array.from(rows, ([id]) => id),
  logProbs: Float32Array.from(rows, ([, logProb]) => logProb),
});
const pair = topK(2, [
  [7, -0.5],
  [3, -1.5],
  [4, -2],
  [9, -0.25],
]);

describe('topKProblem', () => {
  const sample = { responseIds: Int32Array.of(7, 9) };
  it.each([
    { value: pair, responseIds: sample.responseIds, vocabSize: 10, problem: null, why: 'one row per response id' },
    {
      value: pair,
      responseIds: Int32Array.of(7),
      vocabSize: 10,
      problem: '1 response ids but top-K of 2 positions',
      why: 'a row too many',
    },
    {
      value: pair,
      responseIds: sample.responseIds,
      vocabSize: 9,
      problem: 'token id 9, the vocabulary has 9',
      why: 'an id of another vocabulary',
    },
  ])('$why: $problem', ({ value, responseIds, vocabSize, problem }) => {
    expect(topKProblem(value, { responseIds }, vocabSize)).toBe(problem);
  });
});

describe('sameTopK', () => {
  it('cuts to the smallest K, keeping the most likely of each position, whatever order they are in', () => {
    const single = topK(1, [[5, -0.125]]);
    expect(sameTopK([pair, null, single])).toEqual([
      topK(1, [
        [7, -0.5],
        [9, -0.25],
      ]),
      null,
      single,
    ]);
  });
  it('leaves values of one K as they are', () => {
    expect(sameTopK([pair, pair])).toEqual([pair, pair]);
    expect(sameTopK([null])).toEqual([null]);
  });
});
