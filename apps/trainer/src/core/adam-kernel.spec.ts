import { scaleTensor, sumOfSquares, updateTensor, workInPlace, type Moving } from './adam-kernel';
import { hashedArray } from '../bench/hashed-numbers';
import { paddedBytes, wasmMemory } from './wasm-loops';

const FACTORS = { beta1: 0.9, beta2: 0.999, epsilon: 1e-8, rate: 1e-3, squareFactor: 1.5, decay: 1e-5 };

const moving = (length: number): Moving => ({
  values: hashedArray(1, length, 1),
  first: hashedArray(2, length, 1),
  second: hashedArray(3, length, 1).map(Math.abs),
  gradient: hashedArray(4, length, 1),
});

// Lengths about the four numbers of a vector, the 16 of a turn and the 8,192 of a chunk.
const LENGTHS = [0, 1, 3, 4, 5, 15, 16, 17, 8191, 8192, 8193, 20_000];

/** The same arrays in one memory, with a guard of ones behind the last. */
function inPlace(tensor: Moving): { tensor: Moving; guard: Float32Array } {
  const bytes = paddedBytes(tensor.values.length);
  const memory = wasmMemory(4 * bytes + 64);
  workInPlace(memory);
  const moved = (array: Float32Array, at: number): Float32Array => {
    const copy = new Float32Array(memory.buffer, at * bytes, array.length);
    copy.set(array);
    return copy;
  };
  const { values, first, second, gradient } = tensor;
  const guard = new Float32Array(memory.buffer, 4 * bytes, 16).fill(1);
  return {
    tensor: {
      values: moved(values, 0),
      first: moved(first, 1),
      second: moved(second, 2),
      gradient: moved(gradient, 3),
    },
    guard,
  };
}

describe('in place', () => {
  it.each(LENGTHS)('%d numbers come out to the bit as those that are copied', (length) => {
    const copied = moving(length);
    const { tensor, guard } = inPlace(copied);
    expect(sumOfSquares(tensor.gradient)).toBe(sumOfSquares(copied.gradient));
    scaleTensor(tensor.gradient, 0.3);
    scaleTensor(copied.gradient, 0.3);
    expect(updateTensor(tensor, FACTORS)).toBe(updateTensor(copied, FACTORS));
    expect(tensor).toEqual(copied);
    expect(guard.every((one) => one === 1)).toBe(true);
  });
});

describe('updateTensor', () => {
  it.each(LENGTHS)('of %d numbers is the formula, to float32 rounding', (length) => {
    const { values, first, second, gradient } = moving(length);
    const next = moving(length);
    const isFinite = updateTensor(next, FACTORS);
    let worst = 0;
    for (let i = 0; i < length; i++) {
      const g = gradient[i]!;
      const mean = 0.9 * first[i]! + 0.1 * g;
      const square = 0.999 * second[i]! + 0.001 * g * g;
      const value = values[i]! * (1 - 1e-5) - (1e-3 * mean) / (Math.sqrt(1.5 * square) + 1e-8);
      const errors = [next.first[i]! - mean, next.second[i]! - square, next.gradient[i]! - value];
      worst = Math.max(worst, ...errors.map(Math.abs));
    }
    expect(worst).toBeLessThan(2e-7);
    expect(isFinite).toBe(true);
  });

  it('leaves the values as they are, and gives the same bits again', () => {
    const [one, two] = [moving(9_000), moving(9_000)];
    updateTensor(one, FACTORS);
    updateTensor(two, FACTORS);
    expect(two).toEqual(one);
    expect(one.values).toEqual(moving(9_000).values);
  });

  it('hands a NaN on, to that number alone', () => {
    const tensor = moving(10);
    tensor.gradient[9] = NaN;
    expect(updateTensor(tensor, FACTORS)).toBe(false);
    expect(Array.from(tensor.gradient, Number.isNaN)).toEqual([...new Array<boolean>(9).fill(false), true]);
  });
});

describe('sumOfSquares', () => {
  it.each(LENGTHS)('of %d numbers', (length) => {
    const values = hashedArray(5, length, 1);
    const expected = values.reduce((sum, value) => sum + value * value, 0);
    expect(Math.abs(sumOfSquares(values) - expected)).toBeLessThanOrEqual(1e-10 * (1 + expected));
  });

  it('counts nothing that stood there before', () => {
    sumOfSquares(new Float32Array(8_192).fill(1));
    expect(sumOfSquares(Float32Array.of(2))).toBe(4);
  });

  it('hands a NaN on', () => {
    expect(sumOfSquares(Float32Array.of(1, 2, 3, 4, NaN))).toBeNaN();
  });

  it('reaches what float32 could not hold', () => {
    expect(sumOfSquares(Float32Array.of(1e30, 1e30))).toBeCloseTo(2 * Math.fround(1e30) ** 2, -50);
  });
});

describe('scaleTensor', () => {
  it.each(LENGTHS)('multiplies %d numbers in place', (length) => {
    const values = hashedArray(6, length, 1);
    const expected = values.map((value) => value * 0.25);
    scaleTensor(values, 0.25);
    expect(values).toEqual(expected);
  });
});
