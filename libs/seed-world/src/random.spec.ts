import { random } from './random';

describe('random', () => {
  it('gives the same draws for the same seed, other draws for another', () => {
    const draws = (seed: number | string) => Array.from({ length: 5 }, random(seed).next);
    expect(draws(7)).toEqual(draws(7));
    expect(draws('7')).toEqual(draws(7));
    expect(draws(8)).not.toEqual(draws(7));
    expect(draws('7/replies')).not.toEqual(draws('7/questions'));
  });

  it('is the same on every machine', () => {
    const rng = random('fixed');
    expect(Array.from({ length: 3 }, () => rng.integer(0, 1e6))).toEqual([824005, 95225, 719419]);
  });

  it('spreads evenly and without memory', () => {
    const rng = random('even');
    const draws = Array.from({ length: 40_000 }, () => rng.next());
    const bins = new Array<number>(16).fill(0);
    const pairs = new Array<number>(16).fill(0);
    draws.forEach((value, i) => {
      const bin = Math.floor(value * 16);
      const pair = Math.floor(value * 4) * 4 + Math.floor((draws[i - 1] ?? 0) * 4);
      bins[bin] = (bins[bin] ?? 0) + 1;
      pairs[pair] = (pairs[pair] ?? 0) + 1;
    });
    for (const count of [...bins, ...pairs]) expect(Math.abs(count - 2500)).toBeLessThan(250); // five standard errors
  });

  it('draws integers between both bounds', () => {
    const rng = random(1);
    expect([...new Set(Array.from({ length: 200 }, () => rng.integer(-1, 2)))].sort()).toEqual([-1, 0, 1, 2]);
  });

  it('draws by weight', () => {
    const rng = random(2);
    const draws = Array.from({ length: 8000 }, () => rng.weighted(['a', 'b', 'c'], [3, 0, 1]));
    expect(draws.filter((draw) => draw === 'a').length / 8000).toBeCloseTo(0.75, 1);
    expect(draws).not.toContain('b');
  });

  it('samples without repeating and leaves the list alone', () => {
    const items = [1, 2, 3, 4];
    const rng = random(3);
    for (let i = 0; i < 50; i += 1) expect(new Set(rng.sample(items, 4)).size).toBe(4);
    expect(items).toEqual([1, 2, 3, 4]);
  });

  it('refuses what it cannot draw', () => {
    expect(() => random(1).pick([])).toThrow(RangeError);
    expect(() => random(1).sample([1], 2)).toThrow(RangeError);
    expect(() => random(1).weighted([1, 2], [1])).toThrow(RangeError);
  });
});
