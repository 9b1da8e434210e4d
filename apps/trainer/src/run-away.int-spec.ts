import { encodeLogProbs } from '@hindcast/contracts';
import type { RunningService } from '@hindcast/platform';
import { until } from '../../../libs/platform/src/testing/until';
import { startTrainer } from './service';
import { Bench } from './testing/bench';
import { SHORT_TIMING } from './testing/timing';

const bench = new Bench();
let trainer: RunningService;

beforeEach(async () => {
  await bench.start();
});
afterEach(async () => {
  await trainer.close();
  await bench.stop();
});

it('D59 a teacher that is always 5 nats below: the KL alarm stops publishing, and the last version before it serves on', async () => {
  const env = { LEARNING_RATE: '0.02', KL_ALARM_NATS: '0.05', OLD_LOG_PROBS: 'recomputed' };
  trainer = await startTrainer(bench.config(env), { timing: SHORT_TIMING, announce: () => undefined });
  const step = async (): Promise<void> => {
    const steps = bench.manifests().length;
    const teacherLogProbs = encodeLogProbs([-14, -15, -16]);
    for (let i = 0; i < 2; i++)
      await bench.publish({ case: 'opd', reward: 0, evalScore: 0, teacherModel: 'seed', hint: 'no', teacherLogProbs });
    await until(() => bench.manifests().length > steps && bench.manifests().at(-1)!.state !== 'committed');
  };
  while (bench.manifests().at(-1)?.state !== 'refused') await step();
  const served = (await bench.board())!.version;
  expect(served).toBe(bench.manifests().length - 1);
  expect(bench.manifests().at(-1)!.reason).toMatch(
    /^run-away: KL to the base model \d+\.\d+ nats per token, the bound is 0\.05$/,
  );
  // From the same weights the next step comes to the same end: it stops until somebody looks.
  await step();
  expect(bench.manifests().at(-1)).toMatchObject({ state: 'refused', parent: served });
  expect((await bench.board())!.version).toBe(served);
  expect(bench.engine.loads).toHaveLength(served);
  const metrics = await (await fetch(`http://127.0.0.1:${trainer.port}/metrics`)).text();
  expect(metrics).toMatch(/trainer_alarms_total\{.*alarm="refused".*\} 2/);
});
