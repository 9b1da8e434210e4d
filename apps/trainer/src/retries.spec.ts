import { HindcastError } from '@hindcast/contracts';
import { Log, Metrics } from '@hindcast/platform';
import { Retries } from './retries';

it.each([
  [new HindcastError('disk-full', 'no room'), 'disk-full'],
  [new Error('who knows'), 'internal'],
])('counts what failed by its step and its code: %s', async (error, code) => {
  const metrics = new Metrics('trainer');
  const stop = new AbortController();
  const retries = new Retries(new Log('trainer', 'silent'), metrics, stop.signal);
  const work = retries.untilDone('checkpoint', async () => {
    setImmediate(() => stop.abort());
    throw error;
  });
  await expect(work).rejects.toThrow();
  expect(await metrics.scrape()).toContain(
    `hindcast_trainer_failures_total{step="checkpoint",code="${code}",app="trainer"} 1`,
  );
});
