import type { TokenScore } from './core/token-score';
import { ForwardPass } from './forward-pass';
import { Scheduler, type Job } from './scheduler';
import { randomWeights, smallConfig } from './testing/models';

let forward: ForwardPass;
beforeAll(async () => {
  forward = await ForwardPass.create(smallConfig, randomWeights(smallConfig, 2), 1);
});
afterAll(() => forward.release());

const likeliest = (logProbs: Float32Array): number => logProbs.indexOf(Math.max(...logProbs));

/** Runs a job to its end. */
function run(scheduler: Scheduler, changes: Partial<Job>): Promise<{ scores: TokenScore[]; prompt: unknown }> {
  const scores: TokenScore[] = [];
  return new Promise((resolve, reject) => {
    scheduler.submit({
      weights: forward,
      promptIds: [1, 2, 3],
      promptTop: null,
      top: 0,
      maxTokens: 5,
      sample: likeliest,
      onToken: (score) => {
        scores.push(score);
        return false;
      },
      onDone: (prompt) => resolve({ scores, prompt }),
      onError: reject,
      ...changes,
    });
  });
}

it('reads long prompts in pieces and scores them once', async () => {
  const promptIds = Array.from({ length: 180 }, (_, i) => i % 23);
  const { scores, prompt } = await run(new Scheduler(4), { promptIds, promptTop: 2, maxTokens: 20 });
  expect(scores).toHaveLength(20);
  expect((prompt as TokenScore[]).map(({ id }) => id)).toEqual(promptIds.slice(1));
});

it('gives prompts that are read together what each gets alone, scored or not, of one token or longer than a piece', async () => {
  const jobs = [1, 30, 100, 3, 120, 150, 180].map((length, i) => ({
    promptIds: Array.from({ length }, (_, at) => (at * (i + 3) + i) % 23),
    promptTop: i % 3 === 1 ? 1 : null,
    maxTokens: i === 3 ? 1 : 6,
  }));
  const alone: Awaited<ReturnType<typeof run>>[] = [];
  for (const job of jobs) alone.push(await run(new Scheduler(1), job));
  const scheduler = new Scheduler(6);
  const together = await Promise.all(jobs.map((job) => run(scheduler, job)));
  together.forEach(({ scores, prompt }, i) => {
    expect(scores.map(({ id }) => id)).toEqual(alone[i]!.scores.map(({ id }) => id));
    for (const [at, { logProb }] of scores.entries()) expect(logProb).toBeCloseTo(alone[i]!.scores[at]!.logProb, 4);
    const expected = alone[i]!.prompt as TokenScore[] | null;
    expect((prompt as TokenScore[] | null)?.map(({ id, rank }) => [id, rank])).toEqual(
      expected?.map(({ id, rank }) => [id, rank]),
    );
  });
});

it('fails only the prompt that the model cannot run, of those that are read with it', async () => {
  const scheduler = new Scheduler(4);
  const jobs = [[1, 2], [1, 99999], [3]].map((promptIds) => run(scheduler, { promptIds }));
  const results = await Promise.allSettled(jobs);
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
});

it('runs at most the batch at once, the others in the order they came', async () => {
  const scheduler = new Scheduler(2);
  let most = 0;
  const order: number[] = [];
  const jobs = Array.from({ length: 7 }, (_, i) =>
    run(scheduler, {
      promptIds: [i],
      onToken: () => {
        most = Math.max(most, scheduler.runningCount);
        return false;
      },
    }).then(() => order.push(i)),
  );
  expect(scheduler.waitingCount).toBeGreaterThanOrEqual(6);
  await Promise.all(jobs);
  expect(most).toBe(2);
  expect(order).toEqual([0, 1, 2, 3, 4, 5, 6]);
  expect([scheduler.runningCount, scheduler.waitingCount, scheduler.cachedPositions]).toEqual([0, 0, 0]);
});

it('gives up a cancelled job, waiting, reading or decoding, and serves the others', async () => {
  const scheduler = new Scheduler(2);
  const forever = { maxTokens: 150, onToken: () => false };
  const ended: string[] = [];
  const cancels = ['decoding', 'reading', 'waiting'].map((name) =>
    scheduler.submit({
      weights: forward,
      promptIds: [1],
      promptTop: 0,
      top: 0,
      sample: likeliest,
      onDone: (scores) => ended.push(`${name} ${String(scores)}`),
      onError: (error) => ended.push(error.message),
      ...forever,
    }),
  );
  await run(new Scheduler(1), {});
  for (const cancel of cancels) cancel();
  expect((await run(scheduler, {})).scores).toHaveLength(5);
  expect(ended.sort()).toEqual(['decoding null', 'reading null', 'waiting null']);
});

it('fails a job whose sampling or reader throws, and no other', async () => {
  const scheduler = new Scheduler(4);
  let draws = 0;
  const failing = run(scheduler, {
    sample: (logProbs) => {
      if (++draws === 3) throw new Error('no numbers');
      return likeliest(logProbs);
    },
  });
  const broken = run(scheduler, {
    onToken: () => {
      throw new Error('reader is gone');
    },
  });
  const good = run(scheduler, { maxTokens: 9 });
  await expect(failing).rejects.toThrow('no numbers');
  await expect(broken).rejects.toThrow('reader is gone');
  expect((await good).scores).toHaveLength(9);
});

it('fails the jobs of weights that cannot run, and serves on', async () => {
  const scheduler = new Scheduler(4);
  const other = await ForwardPass.create(smallConfig, randomWeights(smallConfig, 3), 1);
  await other.release();
  await expect(run(scheduler, { weights: other })).rejects.toThrow();
  expect((await run(scheduler, {})).scores).toHaveLength(5);
});
