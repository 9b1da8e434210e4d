import * as tf from '@tensorflow/tfjs';
import { useCpuBackend } from '../../testing/cpu-backend';
import { tokenWeights, weightedRowSum } from './reduction';

const lists = (weights: readonly Float32Array[]): number[][] => weights.map((row) => Array.from(row));

beforeAll(useCpuBackend);

describe('tokenWeights', () => {
  it('sample-mean counts each sample alike, however long', () => {
    expect(
      lists(
        tokenWeights(
          [
            [1, 1, 1, 1],
            [1, 1],
          ],
          'sample-mean',
        ),
      ),
    ).toEqual([
      [0.125, 0.125, 0.125, 0.125],
      [0.25, 0.25],
    ]);
  });
  it('token-mean counts each token alike', () => {
    expect(lists(tokenWeights([[1, 1, 0, 1], [1]], 'token-mean'))).toEqual([[0.25, 0.25, 0, 0.25], [0.25]]);
  });
  it('D58: the mean is over the samples that have a token', () => {
    expect(
      lists(
        tokenWeights(
          [
            [1, 1],
            [0, 0],
            [1, 0],
          ],
          'sample-mean',
        ),
      ),
    ).toEqual([
      [0.25, 0.25],
      [0, 0],
      [0.5, 0],
    ]);
  });
  it.each(['sample-mean', 'token-mean'] as const)(
    'D64: a fully masked batch has %s weights of 0, not NaN',
    (reduction) => {
      expect(lists(tokenWeights([[0, 0], [0]], reduction))).toEqual([[0, 0], [0]]);
    },
  );
});

describe('weighted sums', () => {
  const x = [
    [1, 2],
    [3, 100],
  ];
  const weights = [
    [0.25, 0.25],
    [0.5, 0],
  ];
  it('add every position of a row by its weight', () => {
    expect(Array.from(weightedRowSum(tf.tensor2d(x), tf.tensor2d(weights)).dataSync())).toEqual([0.75, 1.5]);
  });
  it('refuse arguments of different shapes', () => {
    expect(() => weightedRowSum(tf.tensor2d(x), tf.tensor2d([[1, 1]]))).toThrow(/x and w/);
  });
});
