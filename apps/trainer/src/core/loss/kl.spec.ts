import * as tf from '@tensorflow/tfjs';
import { useCpuBackend } from '../../testing/cpu-backend';
import { approximateKl, KL_TYPES, type KlType } from './kl';
import reference from './reference-loss.json';

const row = (xs: readonly number[]): tf.Tensor2D => tf.tensor2d([[...xs]]);
const klOf = (logProbs: readonly number[], ref: readonly number[], type: KlType): number[] =>
  tf.tidy(() => Array.from(approximateKl(row(logProbs), row(ref), type, 20).dataSync()));
const gradientOf = (logProbs: readonly number[], ref: readonly number[], type: KlType): number[] =>
  tf.tidy(() =>
    Array.from(
      tf
        .grad((x) => tf.sum(approximateKl(x as tf.Tensor2D, row(ref), type, 20)))(row(logProbs))
        .dataSync(),
    ),
  );

beforeAll(useCpuBackend);

describe('approximateKl', () => {
  it.each(KL_TYPES)('approx_kl: %s agrees with the reference', (type) => {
    const { new: logProbs, ref } = reference.approx_kl;
    const got = klOf(logProbs, ref, type);
    reference.approx_kl[type].forEach((kl, t) => expect(got[t]).toBeCloseTo(kl, 5));
  });

  // d = log π_θ − log π_ref = 0.5
  it.each([
    { type: 'k1' as const, gradient: 1, why: 'd/dx d' },
    { type: 'k2' as const, gradient: 0.5, why: 'd/dx d²/2 = d' },
    { type: 'k3' as const, gradient: 1 - Math.exp(-0.5), why: 'd/dx (exp(−d) − 1 + d) = 1 − exp(−d)' },
    { type: 'low_var_kl' as const, gradient: 1 - Math.exp(-0.5), why: 'k3 inside its bound' },
  ])('$type has the gradient $gradient: $why', ({ type, gradient }) => {
    expect(gradientOf([-0.5], [-1], type)[0]).toBeCloseTo(gradient, 6);
  });

  it.each(['k2', 'k3', 'low_var_kl'] as const)('D65: following −∇%s pulls log π_θ to log π_ref', (type) => {
    expect(gradientOf([-0.5], [-1], type)[0]).toBeGreaterThan(0);
    expect(gradientOf([-1], [-0.5], type)[0]).toBeLessThan(0);
    expect(Math.abs(gradientOf([-1], [-1], type)[0]!)).toBe(0);
  });

  it('D62: stays finite over a gap of 200 nats; low_var_kl within ±10', () => {
    for (const type of KL_TYPES) {
      for (const [logProb, ref] of [
        [-200, -0.1],
        [-0.1, -200],
      ] as const) {
        expect(Number.isFinite(klOf([logProb], [ref], type)[0])).toBe(true);
        expect(Number.isFinite(gradientOf([logProb], [ref], type)[0])).toBe(true);
      }
    }
    expect(klOf([-200], [-0.1], 'low_var_kl')[0]).toBe(10);
    expect(klOf([NaN], [-1], 'low_var_kl')[0]).toBeNaN();
  });

  it('refuses arguments of different shapes', () => {
    expect(() => approximateKl(row([0, 0]), row([0]), 'k1', 20)).toThrow(/log π_ref/);
  });
});
