import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { until } from '../../../libs/platform/src/testing/until';
import { Bench } from './testing/bench';
import { startTrainerProcess, type TrainerProcess } from './testing/trainer-process';

// Whatever the moment of the crash: each turn is in exactly one version, the version is published and announced, and every
// message is acknowledged.

// Each test starts the process several times, which takes seconds where many tests run.
jest.setTimeout(120_000);

const bench = new Bench();
const processes: TrainerProcess[] = [];

function start(env: Record<string, string> = {}): TrainerProcess {
  const trainer = startTrainerProcess(bench.env(env));
  processes.push(trainer);
  return trainer;
}

beforeEach(async () => {
  await bench.start();
});
afterEach(async () => {
  for (const { child } of processes.splice(0)) child.kill('SIGKILL');
  await bench.stop();
});

async function expectTrainedOnce(turnIds: readonly string[], version: number): Promise<void> {
  await bench.serves(version);
  await until(async () => (await bench.unacknowledged()) === 0);
  await until(async () => (await bench.stored('policyUpdated')).some(({ body }) => body.version === version));
  await until(() => bench.manifests().every(({ state }) => state === 'published'));
  const trained = bench.manifests().flatMap((manifest) => manifest.turnIds);
  expect(trained.toSorted()).toEqual(turnIds.toSorted());
  expect(bench.manifests()).toHaveLength(version);
  expect(existsSync(join(bench.policyDir, 'next-batch.json'))).toBe(false);
}

describe('kill -9', () => {
  it.each(['after-rename', 'after-load'] as const)('%s is completed by the next start', async (point) => {
    const first = start({ CRASH_AT: point });
    await first.ready;
    const turnIds = [await bench.publish(), await bench.publish()];
    expect(await first.ended()).toBe('SIGKILL');
    expect(bench.manifests()).toMatchObject([{ version: 1, state: 'committed', turnIds }]);
    expect((await bench.board())?.version).toBe(0);

    await start().ready;
    await expectTrainedOnce(turnIds, 1);
    expect(bench.engine.loads).toEqual(['hindcast-v000001']);

    const more = [await bench.publish({ policyVersion: 1 }), await bench.publish({ policyVersion: 1 })];
    await expectTrainedOnce([...turnIds, ...more], 2);
  });

  it('during a step leads to exactly the same batch, although an older message came in between', async () => {
    const first = start({
      BATCH_SIZE: '3',
      BATCH_MIN: '2',
      BATCH_MAX_WAIT_SECONDS: '0',
      LORA_RANK: '16',
      LORA_ALPHA: '32',
    });
    await first.ready;
    const turnIds = [await bench.publish(), await bench.publish()];
    await until(() => existsSync(join(bench.policyDir, 'next-batch.json')));
    first.child.kill('SIGKILL');
    await first.ended();
    // The kill may have come after the commit; then there is nothing to rebuild.
    const begun =
      bench.manifests().length === 0 ? (bench.json('next-batch.json') as { turnIds: string[] }).turnIds : turnIds;
    const late = [await bench.publish(), await bench.publish(), await bench.publish()];

    await start({ BATCH_SIZE: '3', BATCH_MIN: '2', BATCH_MAX_WAIT_SECONDS: '0', LORA_RANK: '16', LORA_ALPHA: '32' })
      .ready;
    await bench.serves(2);
    expect(bench.manifests()[0]!.turnIds).toEqual(begun);
    await until(async () => (await bench.unacknowledged()) === 0);
    const trained = bench.manifests().flatMap((manifest) => manifest.turnIds);
    expect(trained.toSorted()).toEqual([...turnIds, ...late].toSorted());
  });

  it('leaves the batches as they are, although what the dead trainer held comes later than what it never had', async () => {
    // Longer than a start takes.
    const settings = { BATCH_MAX_WAIT_SECONDS: '1000000', TEST_ACK_WAIT_MS: '20000' };
    const first = start(settings);
    await first.ready;
    const turnIds = [await bench.publish(), await bench.publish(), await bench.publish()];
    await bench.serves(1);
    // The third one is held by the trainer, and not acknowledged.
    await until(async () => (await bench.unacknowledged()) === 1);
    first.child.kill('SIGKILL');
    await first.ended();
    for (let n = 0; n < 3; n++) turnIds.push(await bench.publish());

    await start(settings).ready;
    await expectTrainedOnce(turnIds, 3);
    expect(bench.manifests().map((manifest) => manifest.turnIds)).toEqual([
      turnIds.slice(0, 2),
      turnIds.slice(2, 4),
      turnIds.slice(4, 6),
    ]);
  });

  it('between the flip and its record is completed without another examination', async () => {
    await start().ready;
    const turnIds = [await bench.publish(), await bench.publish()];
    await expectTrainedOnce(turnIds, 1);
    const [trainer] = processes;
    trainer!.child.kill('SIGKILL');
    await trainer!.ended();
    bench.forgetPublication(1);
    const samples = bench.engine.samples;
    await start().ready;
    await expectTrainedOnce(turnIds, 1);
    expect(bench.engine.samples).toBe(samples);
  });
});

it('SIGTERM lets go of waiting samples, and they are trained after the next start', async () => {
  const first = start();
  await first.ready;
  const waiting = await bench.publish();
  first.child.kill('SIGTERM');
  expect(await first.ended()).toBe(0);
  await start().ready;
  const turnIds = [waiting, await bench.publish()];
  await expectTrainedOnce(turnIds, 1);
});

it('a second trainer ends at once with the reason', async () => {
  await start().ready;
  const second = start();
  expect(await second.ended()).toBe(1);
  expect(second.stderr()).toMatch(/another trainer \(process \d+ on .+\) works in .+; one POLICY_DIR has one trainer/);
});

it('starts before the broker and says that it waits', async () => {
  await bench.nats.kill();
  const trainer = start();
  await trainer.waiting;
  await bench.nats.restart();
  await trainer.ready;
  await bench.serves(0);
});
