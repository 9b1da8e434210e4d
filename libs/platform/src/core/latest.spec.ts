import { Latest } from './latest';

describe('the entries that were set last', () => {
  it('are at least half of the most, and never more', () => {
    const latest = new Latest<number, string>(10);
    for (let key = 0; key < 1_000; key++) {
      latest.set(key, String(key));
      const kept = Array.from({ length: key + 1 }, (_, known) => known).filter((known) => latest.has(known));
      expect(kept.length).toBeLessThanOrEqual(10);
      expect(kept.slice(-5)).toEqual(Array.from({ length: Math.min(5, key + 1) }, (_, back) => key - back).reverse());
    }
  });

  it('stay when they are set anew, with what was set last', () => {
    const latest = new Latest<string, number>(4);
    for (let round = 0; round < 10; round++) {
      latest.set('again', round);
      latest.set(`other ${round}`, round);
    }
    expect(latest.get('again')).toBe(9);
  });

  it('are gone once deleted, from both generations', () => {
    const latest = new Latest<string, number>(4);
    latest.set('a', 1);
    latest.set('b', 1);
    latest.set('a', 2);
    latest.set('c', 1);
    latest.set('a', 3);
    latest.delete('a');
    expect(latest.get('a')).toBeUndefined();
    latest.clear();
    expect(latest.has('c')).toBe(false);
  });
});
