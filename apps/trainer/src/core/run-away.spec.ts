import { runAwayAlarm } from './run-away';

const bounds = { klNats: 0.5, entropyNats: 1 };

describe('runAwayAlarm', () => {
  it.each([
    { metrics: { kl: 0.49, entropy: 2.9 }, baseline: 2, kind: null, why: 'within both bounds' },
    { metrics: { kl: 0.5, entropy: 2 }, baseline: 2, kind: 'kl', why: 'at the bound of the KL' },
    { metrics: { kl: 0.1, entropy: 3 }, baseline: 2, kind: 'entropy', why: 'entropy that rises' },
    { metrics: { kl: 0.1, entropy: 0.9 }, baseline: 2, kind: 'entropy', why: 'entropy that collapses' },
    { metrics: { kl: 9, entropy: 9 }, baseline: 2, kind: 'kl', why: 'the KL is named first' },
    { metrics: { entropy: 9 }, baseline: null, kind: null, why: 'no first step to compare with' },
    { metrics: {}, baseline: 2, kind: null, why: 'nothing was measured' },
  ])('D59: $why: $kind', ({ metrics, baseline, kind }) => {
    const alarm = runAwayAlarm(metrics as Record<string, number>, { entropyBaseline: baseline }, bounds);
    expect(alarm?.kind ?? null).toBe(kind);
  });

  it('D59: says what, how much and the bound', () => {
    expect(runAwayAlarm({ kl: 0.75 }, { entropyBaseline: null }, bounds)).toEqual({
      kind: 'kl',
      value: 0.75,
      bound: 0.5,
      reason: 'run-away: KL to the base model 0.750 nats per token, the bound is 0.5',
    });
  });

  it('D59: without bounds never', () => {
    const unbounded = { klNats: null, entropyNats: null };
    expect(runAwayAlarm({ kl: 1e9, entropy: 1e9 }, { entropyBaseline: 0 }, unbounded)).toBeNull();
  });
});
