import type { CurrentPolicy, RollbackAnswer, RollbackWish } from '@hindcast/contracts';
import { rollbackProgress } from './rollback-progress';

const wish: RollbackWish = { id: 'a', version: 3, reason: null, at: 100 };
const answer = (more: Partial<RollbackAnswer> = {}): RollbackAnswer => ({
  id: 'a',
  version: 3,
  state: 'done',
  message: null,
  at: 200,
  ...more,
});
const current = (version: number, at = 50): CurrentPolicy => ({
  version,
  adapter: null,
  engines: [],
  weights: 'named',
  canary: null,
  at,
});

describe('a roll-back', () => {
  it('waits until the trainer answers this very wish', () => {
    expect(rollbackProgress(wish, null, current(5))).toMatchObject({ phase: 'waiting', isOver: false });
    expect(rollbackProgress(wish, answer({ id: 'b' }), current(5))).toMatchObject({ phase: 'waiting', isOver: false });
  });

  it('is tried again when it failed, and says why', () => {
    const progress = rollbackProgress(wish, answer({ state: 'failed', message: 'no engine takes it' }), current(5));
    expect(progress).toMatchObject({ phase: 'failing', isOver: false });
    expect(progress.text).toContain('tries again: no engine takes it');
  });

  it('is over when it is refused, and says why', () => {
    const progress = rollbackProgress(wish, answer({ state: 'refused', message: 'it was refused' }), current(5));
    expect(progress).toMatchObject({ phase: 'refused', isOver: true });
    expect(progress.text).toContain('it was refused');
  });

  it('is done, but not over, until the gateway serves the version', () => {
    expect(rollbackProgress(wish, answer(), current(5))).toMatchObject({ phase: 'done', isOver: false });
    expect(rollbackProgress(wish, answer(), current(3, 201))).toMatchObject({
      phase: 'serving',
      isOver: true,
      text: 'Version 3 serves again.',
    });
  });

  it('is over as well when a newer version serves since', () => {
    const progress = rollbackProgress(wish, answer(), current(6, 300));
    expect(progress).toMatchObject({ phase: 'serving', isOver: true });
    expect(progress.text).toContain('version 6 serves');
  });

  it('calls version 0 the base model', () => {
    expect(rollbackProgress({ ...wish, version: 0 }, null, current(5)).text).toContain('the base model');
  });
});
