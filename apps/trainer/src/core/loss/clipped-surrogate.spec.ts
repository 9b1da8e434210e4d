import * as tf from '@tensorflow/tfjs';
import { useCpuBackend } from '../../testing/cpu-backend';
import { clippedSurrogate, type ClipSettings } from './clipped-surrogate';
import reference from './reference-loss.json';

const clip: ClipSettings = { epsilonLow: 0.2, epsilonHigh: 0.28, dualClip: null, logRatioLimit: 20 };
const row = (xs: readonly number[]): tf.Tensor2D => tf.tensor2d([[...xs]]);
const numbers = (tensor: tf.Tensor): number[] => Array.from(tensor.dataSync());

function lossOf(logProbs: readonly number[], old: readonly number[], advantages: readonly number[], settings = clip) {
  return tf.tidy(() => {
    const { loss, clipped } = clippedSurrogate(row(logProbs), row(old), row(advantages), settings);
    return { loss: numbers(loss), clipped: numbers(clipped) };
  });
}

/** Gradient of Σₜ Lₜ with respect to log π_θ. */
function gradientOf(
  logProbs: readonly number[],
  old: readonly number[],
  advantages: readonly number[],
  settings = clip,
) {
  return tf.tidy(() =>
    numbers(
      tf.grad((x) => tf.sum(clippedSurrogate(x as tf.Tensor2D, row(old), row(advantages), settings).loss))(
        row(logProbs),
      ),
    ),
  );
}

beforeAll(useCpuBackend);

describe('clippedSurrogate', () => {
  // Worked by hand from −min(ρA, clip(ρ, 0.8, 1.28)A).
  it.each([
    { ratio: 1, advantage: 1, loss: -1, clipped: 0, gradient: -1, why: 'ρ = 1 is plain policy gradient' },
    { ratio: 2, advantage: 1, loss: -1.28, clipped: 1, gradient: 0, why: 'the gain is capped at 1 + ε_high' },
    { ratio: 1.25, advantage: 1, loss: -1.25, clipped: 0, gradient: -1.25, why: 'above 1 + ε_low, below 1 + ε_high' },
    { ratio: 0.5, advantage: 1, loss: -0.5, clipped: 0, gradient: -0.5, why: 'a drop under A > 0 is not capped' },
    { ratio: 2, advantage: -1, loss: 2, clipped: 0, gradient: 2, why: 'a rise under A < 0 is not capped' },
    { ratio: 0.5, advantage: -1, loss: 0.8, clipped: 1, gradient: 0, why: 'the gain is capped at 1 − ε_low' },
    { ratio: 2, advantage: 0, loss: 0, clipped: 0, gradient: 0, why: 'no advantage, no loss' },
  ])('ρ=$ratio A=$advantage: loss $loss, $why', ({ ratio, advantage, loss, clipped, gradient }) => {
    const got = lossOf([Math.log(ratio) - 3], [-3], [advantage]);
    expect(got.loss[0]).toBeCloseTo(loss, 5);
    expect(got.clipped[0]).toBe(clipped);
    expect(gradientOf([Math.log(ratio) - 3], [-3], [advantage])[0]).toBeCloseTo(gradient, 5);
  });

  it.each([
    { ratio: 5, advantage: -1, loss: 3, why: 'the loss of a far rise under A < 0 is bounded by −cA' },
    { ratio: 2, advantage: -1, loss: 2, why: 'below the bound nothing changes' },
    { ratio: 0.5, advantage: -1, loss: 0.8, why: 'the inner clip still holds' },
    { ratio: 5, advantage: 1, loss: -1.28, why: 'A > 0 knows no dual clip' },
  ])('dual clip c = 3, ρ=$ratio A=$advantage: loss $loss, $why', ({ ratio, advantage, loss }) => {
    expect(lossOf([Math.log(ratio)], [0], [advantage], { ...clip, dualClip: 3 }).loss[0]).toBeCloseTo(loss, 5);
  });

  it.each([
    { name: 'policy_loss', dualClip: null, expected: reference.policy_loss },
    { name: 'policy_loss_dual_c3', dualClip: 3, expected: reference.policy_loss_dual_c3 },
  ])('$name: agrees with the reference', ({ dualClip, expected }) => {
    const { new: logProbs, old, adv } = reference.policy_loss;
    const got = lossOf(logProbs, old, adv, { ...clip, dualClip });
    expected.loss.forEach((loss, t) => expect(got.loss[t]).toBeCloseTo(loss, 5));
    expect(got.clipped).toEqual(expected.clipfrac);
  });

  it('has the gradient of a central finite difference', () => {
    const at = [-1.1, -1.9, -0.4, -2.2];
    const old = [-1, -2, -0.5, -1];
    const advantages = [0.7, -1.3, 2, -1];
    const total = (x: number[]): number => lossOf(x, old, advantages).loss.reduce((a, b) => a + b, 0);
    const step = 1e-3;
    gradientOf(at, old, advantages).forEach((gradient, t) => {
      const shifted = (by: number): number[] => at.map((x, i) => (i === t ? x + by : x));
      expect(gradient).toBeCloseTo((total(shifted(step)) - total(shifted(-step))) / (2 * step), 3);
    });
  });

  it('D62: a log-prob gap of 200 nats gives a finite loss and gradient, for either sign of A', () => {
    for (const advantage of [1, -1]) {
      expect(lossOf([-0.1], [-200], [advantage]).loss.every(Number.isFinite)).toBe(true);
      expect(gradientOf([-0.1], [-200], [advantage]).every(Number.isFinite)).toBe(true);
      expect(gradientOf([-200], [-0.1], [advantage]).every(Number.isFinite)).toBe(true);
    }
  });

  it('D62: a NaN is not hidden', () => {
    expect(lossOf([NaN], [-1], [1]).loss[0]).toBeNaN();
    expect(lossOf([-1], [NaN], [1]).loss[0]).toBeNaN();
    expect(lossOf([-1], [-1], [NaN]).loss[0]).toBeNaN();
  });

  it('D63: A = 0 across a gap of 800 nats is a loss of exactly 0, without gradient', () => {
    expect(Math.abs(lossOf([0], [-800], [0]).loss[0]!)).toBe(0);
    expect(Math.abs(gradientOf([0], [-800], [0])[0]!)).toBe(0);
  });

  it.each([
    { bound: 1.28, advantage: 1, why: 'at 1 + ε_high' },
    { bound: 0.8, advantage: -1, why: 'at 1 − ε_low' },
  ])('D67: $why the gradient is the one from the inner side', ({ bound, advantage }) => {
    const logRatio = exactLog(bound);
    expect(gradientOf([logRatio], [0], [advantage])[0]).toBeCloseTo(-bound * advantage, 5);
    const step = 1e-3 * Math.sign(1 - bound);
    const loss = (x: number): number => lossOf([x], [0], [advantage]).loss[0]!;
    expect((loss(logRatio + step) - loss(logRatio)) / step).toBeCloseTo(-bound * advantage, 2);
  });

  it('refuses arguments of different shapes', () => {
    expect(() => clippedSurrogate(row([0, 0]), row([0]), row([1, 1]), clip)).toThrow(/log π_old/);
    expect(() => clippedSurrogate(row([0, 0]), row([0, 0]), row([1]), clip)).toThrow(/and A/);
  });

  it('D66: leaves no tensor behind under tidy', () => {
    const before = tf.memory().numTensors;
    for (let i = 0; i < 200; i++) gradientOf([-1, -2], [-1.1, -2.2], [1, -1]);
    expect(tf.memory().numTensors).toBe(before);
  });
});

/** The float32 whose float32 exp is the float32 nearest to `value`. */
function exactLog(value: number): number {
  const target = Math.fround(value);
  const start = Math.fround(Math.log(value));
  for (let ulps = -8; ulps <= 8; ulps++) {
    const candidate = Math.fround(start + ulps * 2 ** -26);
    if (Math.fround(Math.exp(candidate)) === target) return candidate;
  }
  throw new Error(`no float32 has the exp ${target}`);
}
