import { accumulate, ADAM, adamStep, clipByGlobalNorm, globalNorm, initialAdamState } from './adam';

const named = (values: Record<string, number[]>): Map<string, Float32Array> =>
  new Map(Object.entries(values).map(([name, numbers]) => [name, Float32Array.from(numbers)]));

describe('adamStep', () => {
  it('moves each parameter by the learning rate against the sign of its gradient at first: m̂ = g, √v̂ = |g|', () => {
    const parameters = named({ a: [1, 1, 1] });
    const { parameters: updated, state } = adamStep(
      parameters,
      named({ a: [0.5, -2, 0] }),
      initialAdamState(parameters),
      0.1,
    );
    [0.9, 1.1, 1].forEach((value, i) => expect(updated.get('a')![i]).toBeCloseTo(value, 6));
    expect(state.step).toBe(1);
    expect(parameters.get('a')![0]).toBe(1);
  });

  it('follows the recurrence over two steps, worked by hand', () => {
    const parameters = named({ a: [0] });
    const one = adamStep(parameters, named({ a: [1] }), initialAdamState(parameters), 0.1);
    const two = adamStep(one.parameters, named({ a: [-2] }), one.state, 0.1);
    const m = 0.9 * 0.1 + 0.1 * -2;
    const v = 0.999 * 0.001 + 0.001 * 4;
    const step = m / (1 - 0.9 ** 2) / Math.sqrt(v / (1 - 0.999 ** 2));
    expect(two.state.first.get('a')![0]).toBeCloseTo(m, 6);
    expect(two.state.second.get('a')![0]).toBeCloseTo(v, 8);
    expect(two.parameters.get('a')![0]).toBeCloseTo(-0.1 - 0.1 * step, 6);
  });

  it('decays weights apart from the moments', () => {
    const parameters = named({ a: [2] });
    const settings = { ...ADAM, weightDecay: 0.5 };
    const { parameters: updated, state } = adamStep(
      parameters,
      named({ a: [0] }),
      initialAdamState(parameters),
      0.1,
      settings,
    );
    expect(updated.get('a')![0]).toBeCloseTo(2 - 0.1 * 0.5 * 2, 6);
    expect(state.first.get('a')![0]).toBe(0);
  });

  it('makes no array: moments are changed in place, the gradient becomes the parameters', () => {
    const parameters = named({ a: [1, 2] });
    const gradients = named({ a: [0.5, -2] });
    const before = initialAdamState(parameters);
    const { parameters: updated, state } = adamStep(parameters, gradients, before, 0.1);
    expect(updated.get('a')).toBe(gradients.get('a'));
    expect(state.first.get('a')).toBe(before.first.get('a'));
    expect(state.second.get('a')).toBe(before.second.get('a'));
    expect(before.first.get('a')![0]).toBeCloseTo(0.05, 6);
  });

  it('refuses a parameter without gradient, and has changed nothing', () => {
    const parameters = named({ a: [1], b: [1] });
    const state = initialAdamState(parameters);
    expect(() => adamStep(parameters, named({ a: [1] }), state, 0.1)).toThrow(/^b has 1 values/);
    expect(state).toEqual(initialAdamState(parameters));
  });
});

describe('clipByGlobalNorm', () => {
  it('scales all gradients alike to the bound', () => {
    const { gradients, norm } = clipByGlobalNorm(named({ a: [3], b: [0, 4] }), 1);
    expect(norm).toBe(5);
    expect(globalNorm(gradients)).toBeCloseTo(1, 6);
    expect(gradients.get('b')![1]).toBeCloseTo(0.8, 6);
  });
  it('leaves gradients within the bound alone', () => {
    const gradients = named({ a: [0.6, 0.8] });
    expect(clipByGlobalNorm(gradients, 1.5).gradients).toBe(gradients);
  });
  it('hands a NaN on', () => {
    expect(clipByGlobalNorm(named({ a: [NaN] }), 1).norm).toBeNaN();
  });
});

describe('accumulate', () => {
  it('adds without touching its argument', () => {
    const total = new Map<string, Float32Array>();
    const gradients = named({ a: [1, 2] });
    accumulate(total, gradients);
    accumulate(total, gradients);
    expect(Array.from(total.get('a')!)).toEqual([2, 4]);
    expect(Array.from(gradients.get('a')!)).toEqual([1, 2]);
  });
});
