import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { decodeLogProbs, decodeNumbers, encodeIds, messageSchema, type MessageOf } from '@hindcast/contracts';
import { until } from '../../../libs/platform/src/testing/until';
import { versionFolder } from './core/manifest';
import type { StepRecord } from './core/step-record';
import { Bench } from './testing/bench';
import { TestTrainer } from './testing/test-trainer';
import { startTrainerProcess, type TrainerProcess } from './testing/trainer-process';

jest.setTimeout(120_000);

const bench = new Bench();
const trainer = new TestTrainer(bench);
const processes: TrainerProcess[] = [];

function startProcess(env: Record<string, string> = {}): TrainerProcess {
  const started = startTrainerProcess(bench.env(env));
  processes.push(started);
  return started;
}

async function settled(version: number): Promise<void> {
  await bench.serves(version);
  await until(async () => (await bench.stored('policyUpdated')).some(({ body }) => body.version === version));
}

const trained = (): Promise<MessageOf<'sampleTrained'>[]> => bench.stored('sampleTrained');
const record = (version: number): StepRecord => bench.json(versionFolder(version), 'step.json') as StepRecord;
const upTo = (): unknown => bench.json('trained-samples.json');

beforeEach(async () => {
  await bench.start();
});
afterEach(async () => {
  await trainer.stop();
  for (const { child } of processes.splice(0)) child.kill('SIGKILL');
  await bench.stop();
});

it('says of every sample what the step made of it, with the log-probs under the new weights', async () => {
  await trainer.start({ CLIP_EPSILON_LOW: '0.1', W_RL: '1.5', LEARNING_RATE: '0.02' });
  const turnIds = [await bench.publish(), await bench.publish({ reward: -1 })];
  await settled(1);
  const messages = await trained();
  expect(messages.map(({ turnId }) => turnId).sort()).toEqual(turnIds.toSorted());
  for (const message of messages) {
    expect(messageSchema('sampleTrained').safeParse(message).success).toBe(true);
    const written = record(1).samples.find(({ turnId }) => turnId === message.turnId)!;
    const { version, advantages, oldLogProbs, newLogProbs, clipEpsilonLow, clipEpsilonHigh } = message.body;
    expect([message.tenant, version, clipEpsilonLow, clipEpsilonHigh]).toEqual(['default', 1, 0.1, 0.28]);
    expect([...decodeNumbers(advantages)]).toEqual(written.advantages.map(Math.fround));
    expect([...decodeLogProbs(oldLogProbs)]).toEqual(written.oldLogProbs);
    expect([...decodeLogProbs(newLogProbs!)]).toEqual(written.newLogProbs);
  }
  expect(await bench.settings()).toMatchObject({ wRl: 1.5, wOpd: 1 });
  expect(upTo()).toEqual({ v: 1, upTo: 1 });
});

it('moves the log-probs the way of the advantages', async () => {
  await trainer.start({ OLD_LOG_PROBS: 'recomputed', LEARNING_RATE: '0.02' });
  await bench.publish();
  await bench.publish({ reward: -1, responseIds: encodeIds([90, 91, 92]) });
  await settled(1);
  const moved = record(1).samples.map(({ reward, oldLogProbs, newLogProbs }) => {
    const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
    return Math.sign(sum(newLogProbs!) - sum(oldLogProbs)) === reward;
  });
  expect(moved).toEqual([true, true]);
});

it('changes no bit of the step, and can be left out', async () => {
  const weights: Buffer[] = [];
  for (const flag of ['1', '0']) {
    await trainer.start({ RECORD_NEW_LOG_PROBS: flag });
    for (const turnId of ['00000000-0000-4000-8000-000000000001', '00000000-0000-4000-8000-000000000002'])
      await bench.publish({}, turnId);
    await settled(1);
    const files = ['adapter_model.safetensors', 'optimizer/optimizer.safetensors'];
    weights.push(Buffer.concat(files.map((name) => readFileSync(join(bench.policyDir, versionFolder(1), name)))));
    if (flag === '0') break;
    await trainer.stop();
    await bench.stop();
    await bench.start();
  }
  expect(Buffer.compare(weights[0]!, weights[1]!)).toBe(0);
  expect(record(1).samples.map(({ newLogProbs }) => newLogProbs)).toEqual([null, null]);
  expect((await trained()).map(({ body }) => body.newLogProbs)).toEqual([null, null]);
});

it.each(['after-rename', 'after-trained'] as const)(
  'killed %s it is said at the next start, each once',
  async (point) => {
    const first = startProcess({ CRASH_AT: point });
    await first.ready;
    const turnIds = [await bench.publish(), await bench.publish()];
    expect(await first.ended()).toBe('SIGKILL');
    expect(existsSync(join(bench.policyDir, 'trained-samples.json'))).toBe(false);
    expect(await bench.stored('policyUpdated')).toEqual([]);
    await startProcess().ready;
    await settled(1);
    expect((await trained()).map(({ turnId }) => turnId).sort()).toEqual(turnIds.toSorted());
    expect(upTo()).toEqual({ v: 1, upTo: 1 });
  },
);

it('goes on where a record is of an older release, damaged or gone', async () => {
  await trainer.start();
  for (let version = 1; version <= 3; version++) {
    for (let n = 0; n < 2; n++) await bench.publish({ policyVersion: version - 1 });
    await settled(version);
  }
  await trainer.stop();
  const path = (version: number): string => join(bench.policyDir, versionFolder(version), 'step.json');
  const { clip: _, ...older } = record(1);
  writeFileSync(path(1), JSON.stringify(older));
  writeFileSync(path(2), '{');
  rmSync(path(3));
  rmSync(join(bench.policyDir, 'trained-samples.json'));
  await trainer.start();
  await until(() => existsSync(join(bench.policyDir, 'trained-samples.json')));
  await until(() => (upTo() as { upTo: number }).upTo === 3);
  expect(await trained()).toHaveLength(6);
});

it('the weights of the signals are known once a step has balanced them', async () => {
  await trainer.start({ BALANCE: 'schedule', W_OPD: '2' });
  await until(async () => (await bench.settings()) !== undefined);
  expect(await bench.settings()).toMatchObject({ wRl: null, wOpd: null });
  await bench.publish();
  await bench.publish();
  await settled(1);
  expect(await bench.settings()).toMatchObject({ wRl: 0.1, wOpd: 2 });
});
