import { lossTensors, responseParts } from './batch-tensors';

const samples = [
  { promptIds: Int32Array.of(1, 2), responseIds: Int32Array.of(3, 4) },
  { promptIds: Int32Array.of(5), responseIds: Int32Array.of(6) },
];
const numbers = [
  { oldLogProbs: [-1, -2], advantages: [0.5, 0.6], weights: [0.25, 0.25] },
  { oldLogProbs: [-3], advantages: [0.7], weights: [0.5] },
];
const batch = { samples: [1, 0], rows: 3, length: 4 };

describe('lossTensors', () => {
  const tensors = lossTensors(samples, numbers, batch);
  const rows = (name: string): number[][] => {
    const { data } = tensors[name]!;
    return [0, 4, 8].map((start) => Array.from(data.subarray(start, start + 4)));
  };
  it('reads every token but the last, and predicts every token but the first', () => {
    expect(rows('tokenIds')).toEqual([
      [5, 0, 0, 0],
      [1, 2, 3, 0],
      [0, 0, 0, 0],
    ]);
    expect(rows('targetIds')).toEqual([
      [6, 0, 0, 0],
      [2, 3, 4, 0],
      [0, 0, 0, 0],
    ]);
  });
  it('puts the numbers of a response token where it is predicted, and zeros elsewhere', () => {
    expect(rows('oldLogProbs')).toEqual([
      [-3, 0, 0, 0],
      [0, -1, -2, 0],
      [0, 0, 0, 0],
    ]);
    expect(rows('tokenWeights')).toEqual([
      [0.5, 0, 0, 0],
      [0, 0.25, 0.25, 0],
      [0, 0, 0, 0],
    ]);
  });
  it('refuses numbers that are not one per response token', () => {
    const short = [{ ...numbers[0]!, advantages: [1] }, numbers[1]!];
    expect(() => lossTensors(samples, short, batch)).toThrow('2 response ids but 1 advantages');
  });
  it('finds the response again in a result', () => {
    const result = { dtype: 'float32' as const, shape: [3, 4], data: Float32Array.from({ length: 12 }, (_, i) => i) };
    expect(responseParts(samples, batch, result).map((part) => Array.from(part))).toEqual([[0], [5, 6]]);
  });
});
