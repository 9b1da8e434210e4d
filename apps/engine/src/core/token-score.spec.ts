import { mostLikely, scoreToken } from './token-score';

const logProbs = Float32Array.of(-3, -1, -2, -1, -Infinity);

it('ranks a token among all', () => {
  expect(scoreToken(logProbs, 2, 0)).toEqual({ id: 2, logProb: -2, rank: 3, top: [] });
  expect(scoreToken(logProbs, 4, 0).rank).toBe(5);
});

it('gives the most likely tokens, the smaller id first on a tie', () => {
  expect(mostLikely(logProbs, 3).map(({ id }) => id)).toEqual([1, 3, 2]);
  expect(mostLikely(logProbs, 9).map(({ id }) => id)).toEqual([1, 3, 2, 0, 4]);
});

it('refuses a number that is none', () => {
  expect(() => scoreToken(Float32Array.of(Number.NaN), 0, 0)).toThrow('the model gave NaN for token 0');
  expect(() => scoreToken(logProbs, 5, 0)).toThrow('token 5 is outside a vocabulary of 5');
});
