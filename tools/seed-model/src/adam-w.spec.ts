import { AdamW } from './adam-w';
import { learningRate } from './schedule';

const options = { beta1: 0.9, beta2: 0.98, epsilon: 1e-9, weightDecay: 0.05, maxNorm: 1 };
const matrix = { name: 'matrix', shape: [1, 2], begin: 0, end: 2 };
const gain = { name: 'gain', shape: [1], begin: 2, end: 3 };

describe('AdamW', () => {
  it('moves by the learning rate at first, and lets matrices decay', () => {
    const parameters = Float32Array.of(1, 1, 1);
    const norm = new AdamW([matrix, gain], 3, options).step(parameters, Float32Array.of(0.1, -0.2, 0.2), 0.01);
    expect(norm).toBeCloseTo(0.3, 6);
    expect(parameters[0]).toBeCloseTo(1 - 0.01 * 0.05 - 0.01, 6);
    expect(parameters[1]).toBeCloseTo(1 - 0.01 * 0.05 + 0.01, 6);
    expect(parameters[2]).toBeCloseTo(1 - 0.01, 6);
  });

  it('averages gradients over steps as the formulas say', () => {
    const parameters = Float32Array.of(0);
    const adam = new AdamW([{ ...gain, begin: 0, end: 1 }], 1, options);
    adam.step(parameters, Float32Array.of(0.5), 0.1);
    adam.step(parameters, Float32Array.of(-0.1), 0.1);
    const mean = (0.9 * 0.1 * 0.5 + 0.1 * -0.1) / (1 - 0.9 ** 2);
    const square = (0.98 * 0.02 * 0.25 + 0.02 * 0.01) / (1 - 0.98 ** 2);
    expect(parameters[0]).toBeCloseTo(-0.1 - (0.1 * mean) / Math.sqrt(square), 6);
  });

  it('clips a long gradient to norm 1', () => {
    const adam = new AdamW([matrix], 2, options);
    expect(adam.step(Float32Array.of(0, 0), Float32Array.of(30, 40), 0.01)).toBeCloseTo(50, 4);
    expect(adam.mean[0]).toBeCloseTo(0.1 * 0.6, 6);
    expect(adam.mean[1]).toBeCloseTo(0.1 * 0.8, 6);
  });

  it('refuses a gradient that is not finite, and changes nothing', () => {
    const parameters = Float32Array.of(1, 2);
    const adam = new AdamW([matrix], 2, options);
    expect(() => adam.step(parameters, Float32Array.of(NaN, 1), 0.01)).toThrow('step 1');
    expect([...parameters]).toEqual([1, 2]);
    expect(adam.steps).toBe(0);
  });
});

describe('learningRate', () => {
  it.each([
    [0, 0, 4e-5 + 2e-5, 'the first step of the warm-up'],
    [99, 0, 4e-3 + 2e-5, 'the end of the warm-up'],
    [2000, 200, 2e-3 + 2e-5, 'half of the first descent'],
    [4000, 399.999, 2e-5, 'all of it'],
    [4001, 400, 2e-5, 'the start of the second'],
    [4050, 404, 1.5e-3 + 2e-5, 'half way up again'],
    [6000, 600, 1.5e-3 + 2e-5, 'half of the second descent'],
    [9000, 900, 1e-3 + 2e-5, 'half of the third'],
    [10000, 1000, 2e-5, 'the end'],
  ])('step %d, %d of 1000 tokens: %d, %s', (step, tokens, expected) => {
    expect(learningRate(step, tokens, 1000)).toBeCloseTo(expected, 5);
  });
});
