import { trainingSample, uuid } from '../testing/fixtures';
import { hasAllDelivered, planBatch, rebuiltBatch, type BatchRule, type WaitingSample } from './batch-plan';

const rule: BatchRule = { batchSize: 4, batchMin: 2, maxWaitMs: 10_000, maxStaleness: 2 };
const waiting = (count: number, over: Partial<WaitingSample['sample']> = {}, arrivedAt = 0): WaitingSample[] =>
  Array.from({ length: count }, () => ({ sample: trainingSample(over), arrivedAt }));
const turnIds = (samples: readonly { turnId: string }[] | null): string[] | null =>
  samples && samples.map(({ turnId }) => turnId);

describe('planBatch', () => {
  it.each([
    { count: 4, now: 0, due: true, why: 'full' },
    { count: 3, now: 9_999, due: false, why: 'neither full nor waited long enough' },
    { count: 3, now: 10_000, due: true, why: 'waited long enough, and enough of them' },
    { count: 1, now: 99_999, due: false, why: 'fewer than the smallest batch' },
    { count: 0, now: 99_999, due: false, why: 'nothing' },
  ])('$count samples after $now ms: due $due, $why', ({ count, now, due }) => {
    expect(planBatch(waiting(count), 0, rule, now).batch !== null).toBe(due);
  });

  it('takes the oldest of the stream, in its order, whatever order they arrived in', () => {
    const samples = waiting(6);
    const { batch } = planBatch(samples.toReversed(), 0, rule, 0);
    expect(turnIds(batch)).toEqual(samples.slice(0, 4).map(({ sample }) => sample.turnId));
  });

  it('D58: refuses stale samples with both versions, and does not count them', () => {
    const stale = waiting(2, { policyVersion: 1 });
    const fresh = waiting(3, { policyVersion: 2 });
    const plan = planBatch([...stale, ...fresh], 4, rule, 0);
    expect(plan.refused.map(({ sample, refusal }) => [sample.turnId, refusal.reason])).toEqual(
      stale.map(({ sample }) => [sample.turnId, 'stale']),
    );
    expect(plan.refused[0]!.refusal.detail).toBe('sampled by version 1, 3 behind 4; at most 2 is trained');
    expect(plan.batch).toBeNull();
  });

  it('counts a sample of a version that the trainer does not know yet as fresh', () => {
    expect(planBatch(waiting(4, { policyVersion: 9 }), 1, rule, 0).refused).toEqual([]);
  });

  it('waits for the arrival of the oldest that is not stale', () => {
    const plan = planBatch(
      [...waiting(1, { policyVersion: 0 }, 0), ...waiting(2, { policyVersion: 5 }, 9_000)],
      5,
      rule,
      10_000,
    );
    expect(plan.batch).toBeNull();
  });
});

describe('rebuiltBatch', () => {
  const samples = waiting(3);
  const [a, b] = samples.map(({ sample }) => sample.turnId) as [string, string, string];
  it('is exactly the batch that was begun, in its order', () => {
    expect(turnIds(rebuiltBatch(samples, { v: 1, version: 1, turnIds: [b, a] }))).toEqual([b, a]);
  });
  it('is not there before all of its turns came back', () => {
    expect(rebuiltBatch(samples, { v: 1, version: 1, turnIds: [a, uuid(999_999)] })).toBeNull();
  });
});

describe('hasAllDelivered', () => {
  it.each([
    { held: [5, 6], newestSequence: 6, unacknowledged: 2, all: true, why: 'nothing else was delivered' },
    { held: [6, 7], newestSequence: 7, unacknowledged: 3, all: false, why: 'a dead trainer held an older one' },
    {
      held: [6, 8, 9],
      newestSequence: 7,
      unacknowledged: 2,
      all: false,
      why: 'newer ones do not stand for older ones',
    },
    { held: [], newestSequence: 0, unacknowledged: 0, all: true, why: 'nothing was ever delivered' },
    { held: [4, 5], newestSequence: 5, unacknowledged: 1, all: true, why: 'one was acknowledged meanwhile' },
  ])('$all: $why', ({ held, all, ...deliveries }) => {
    expect(hasAllDelivered(held, deliveries)).toBe(all);
  });
});
