import { WorkerSlots } from './worker-slots';

it('runs at most as many tasks as there are slots, in order, and frees the slot of a failed one', async () => {
  const slots = new WorkerSlots(2);
  const started: number[] = [];
  const finish: (() => void)[] = [];
  const tasks = [0, 1, 2, 3].map((n) =>
    slots.run(async () => {
      started.push(n);
      await new Promise<void>((resolve) => finish.push(resolve));
      if (n === 0) throw new Error('failed');
    }),
  );
  const results = Promise.allSettled(tasks);
  await Promise.resolve();
  expect(started).toEqual([0, 1]);
  for (let n = 0; n < 4; n++) {
    while (finish.length <= n) await new Promise((resolve) => setImmediate(resolve));
    finish[n]!();
  }
  expect((await results).map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled', 'fulfilled']);
  expect(started).toEqual([0, 1, 2, 3]);
});
