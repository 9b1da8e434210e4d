import type { Score } from '@hindcast/contracts';
import { INITIAL_PROGRESS, learningRateOf, Progress, progressAfter } from './progress';

const after = (rewards: Score[], before: Progress = INITIAL_PROGRESS): Progress => progressAfter(before, rewards, 1);

describe('progressAfter', () => {
  it('counts steps', () => {
    expect(after([1], after([0])).steps).toBe(2);
  });
  it('needs ten rewards before it sees eight of ten', () => {
    expect(after([1, 1, 1, 1, 1, 1, 1, 1]).hasSucceeded).toBe(false);
    expect(after([1, 1, 1, 1, 1, 1, 1, 1, -1, -1]).hasSucceeded).toBe(true);
    expect(after([1, 1, 1, 1, 1, 1, 1, -1, -1, -1]).hasSucceeded).toBe(false);
  });
  it('does not count samples without a reward', () => {
    expect(after([1, 0, 1, 1, 0, 1, 1, 1, 1, 1]).recentRewards).toEqual([1, 1, 1, 1, 1, 1, 1, 1]);
  });
  it('sees a success in the middle of a batch, and over several batches', () => {
    expect(after([1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1]).hasSucceeded).toBe(true);
    expect(after([1, 1, 1, 1], after([-1, -1, 1, 1, 1, 1])).hasSucceeded).toBe(true);
  });
  it('remembers a success for good', () => {
    const succeeded = after([1, 1, 1, 1, 1, 1, 1, 1, 1, 1]);
    expect(after([-1, -1, -1, -1, -1, -1, -1, -1, -1, -1], succeeded).hasSucceeded).toBe(true);
  });
  it('keeps the first entropy that was measured', () => {
    const first = progressAfter(after([1]), [1], 1, 2.5);
    expect(after([1]).entropyBaseline).toBeNull();
    expect(progressAfter(first, [1], 1, 0.5).entropyBaseline).toBe(2.5);
  });
  it('reads a manifest that knows neither steps nor entropy', () => {
    const old = { recentRewards: [], hasSucceeded: false, signalRatio: 1, rewardBaseline: null };
    expect(Progress.parse(old)).toEqual(INITIAL_PROGRESS);
  });
  it('starts the reward baseline at the first mean and moves it by a fifth', () => {
    const first = after([1, 1, 0, -1, -1]);
    expect(first.rewardBaseline).toBe(0);
    expect(after([1], first).rewardBaseline).toBeCloseTo(0.2, 12);
    expect(after([0], first).rewardBaseline).toBe(0);
  });
});

describe('learningRateOf', () => {
  it('is multiplied once eight of ten succeeded', () => {
    expect(learningRateOf(INITIAL_PROGRESS, 0.004, 0.25)).toBe(0.004);
    expect(learningRateOf({ ...INITIAL_PROGRESS, hasSucceeded: true }, 0.004, 0.25)).toBe(0.001);
  });
});
