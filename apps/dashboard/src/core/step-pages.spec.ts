import type { StepRow } from '@hindcast/contracts';
import { withNewestPage } from './step-pages';

const step = (version: number, state: StepRow['state'] = 'published'): StepRow => ({
  version,
  parent: version - 1,
  at: 0,
  state,
  reason: null,
  turns: 4,
  metrics: {},
});
const versions = (steps: readonly StepRow[]): number[] => steps.map(({ version }) => version);

describe('the newest page of steps', () => {
  it('is everything at first', () => {
    const { steps, isStale } = withNewestPage([], [step(3), step(2)]);
    expect([versions(steps), isStale]).toEqual([[2, 3], false]);
  });

  it('goes on where the last one ended, and brings what became of a version', () => {
    const { steps, isStale } = withNewestPage([step(1), step(2), step(3, null)], [step(4), step(3), step(2)]);
    expect([versions(steps), isStale]).toEqual([[1, 2, 3, 4], false]);
    expect(steps[2]!.state).toBe('published');
  });

  it('after a long silence leaves a hole, so that the older ones are read again', () => {
    const { steps, isStale } = withNewestPage([step(1), step(2)], [step(9), step(8)]);
    expect([versions(steps), isStale]).toEqual([[8, 9], true]);
  });

  it('that was rolled back to its end makes the older ones unknown', () => {
    const held = [step(1), step(2), step(3)];
    expect(withNewestPage(held, [step(3, 'rolled-back'), step(2, 'rolled-back')]).isStale).toBe(true);
    expect(withNewestPage(held, [step(3, 'rolled-back'), step(2)]).isStale).toBe(false);
  });

  it('may be longer than what is held', () => {
    const { steps, isStale } = withNewestPage([step(3)], [step(3), step(2), step(1)]);
    expect([versions(steps), isStale]).toEqual([[1, 2, 3], false]);
  });
});
