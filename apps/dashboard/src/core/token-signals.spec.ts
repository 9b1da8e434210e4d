import { encodeIds, encodeLogProbs, encodeNumbers } from '@hindcast/contracts';
import * as fc from 'fast-check';
import { turnFixture } from '../testing/turn-fixture';
import { turnRows } from '../testing/turns-fixture';
import { LEVELS, levelOf, readToken, scaleLimit, untoldTexts, strengthOf, tokenSignals } from './token-signals';

const trained = turnFixture(
  turnRows.find(({ state, case: gate }) => state === 'trained' && gate === 'opdRl')!,
  40,
);

describe('the signals of a turn', () => {
  it('are the step’s once it is trained', () => {
    const signals = tokenSignals({ ...trained, expected: { advantages: encodeNumbers([9]), wRl: 1, wOpd: 1 } })!;
    expect(signals.source).toBe('trained');
    expect(signals.advantages).toHaveLength(40);
  });

  it('are the expected ones before, and none where nothing is expected', () => {
    const detail = { ...trained.detail, trained: null };
    const expected = { advantages: encodeNumbers(new Float32Array(40).fill(0.25)), wRl: 1, wOpd: 1 };
    expect(tokenSignals({ ...trained, detail, expected })).toMatchObject({ source: 'expected', limit: 0.25 });
    expect(tokenSignals({ ...trained, detail })).toMatchObject({ source: null, advantages: null, limit: 1 });
    expect(tokenSignals({ ...trained, detail: { ...detail, tokens: null } })).toBeNull();
  });

  it('of other tokens are refused, and texts of other tokens left out', () => {
    const tokens = { ids: encodeIds([1, 2]), rollout: encodeLogProbs([-1]), teacher: null };
    expect(() => tokenSignals({ ...trained, detail: { ...trained.detail, tokens } })).toThrow(RangeError);
    expect(tokenSignals({ ...trained, texts: ['a'] })!.texts).toBeNull();
  });
});

describe('one token', () => {
  const signals = (advantages: number[], fresh: number[]) => ({
    ...tokenSignals(trained)!,
    advantages,
    old: [-1, -1, -1, -1],
    new: fresh,
    clip: { low: 0.2, high: 0.28 },
  });

  it('is clipped only on the side to which its advantage pushes', () => {
    const up = Math.log(1.3) - 1;
    const down = Math.log(0.75) - 1;
    const of = signals([1, -1, 1, -1], [up, up, down, down]);
    expect([0, 1, 2, 3].map((t) => readToken(of, t).isClipped)).toEqual([true, false, false, true]);
    expect(readToken(of, 0).ratio).toBeCloseTo(1.3, 10);
  });

  it('without new log-probs has neither ratio nor clipping', () =>
    expect(readToken({ ...signals([1], [0]), new: null }, 0)).toMatchObject({ ratio: null, isClipped: null }));
});

describe('the colour scale', () => {
  it('is symmetric around 0', () =>
    fc.assert(
      fc.property(
        fc.double({ min: -50, max: 50, noNaN: true }),
        fc.double({ min: 0.001, max: 50, noNaN: true }),
        (a, limit) => {
          const level = levelOf(a, limit);
          expect(Math.abs(level)).toBeLessThanOrEqual(LEVELS);
          expect(level * a).toBeGreaterThanOrEqual(0);
          if (!Number.isInteger((a / limit) * LEVELS * 2)) expect(levelOf(-a, limit) + level).toBe(0);
        },
      ),
    ));

  it('grows with the size of the advantage, to the same strength on either side', () =>
    expect([0, 0.1, -0.1, 0.2, -7].map((a) => strengthOf(a, 0.4))).toEqual([0, 0.25, 0.25, 0.5, 1]));

  it('ends where nearly all tokens are, whatever a single one is', () => {
    expect(scaleLimit([...Array.from({ length: 99 }, () => 0.5), -40])).toBe(0.5);
    expect(scaleLimit([0, 0])).toBe(1);
    expect(scaleLimit([0, -0.25])).toBe(0.25);
  });
});

describe('tokens whose texts nobody told', () => {
  it('are explained, all or some', () => {
    expect(untoldTexts({ texts: ['a', ''], length: 2 })).toBeNull();
    expect(untoldTexts({ texts: ['a', null], length: 2 })).toContain('1 of the 2 tokens');
    for (const texts of [null, [null, null]]) expect(untoldTexts({ texts, length: 2 })).toContain('no engine');
  });
});
