import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { until } from '../../../libs/platform/src/testing/until';
import { Bench } from './testing/bench';
import { TestTrainer } from './testing/test-trainer';

jest.setTimeout(120_000);

const bench = new Bench();
const trainer = new TestTrainer(bench);

async function answered(id: string, state: 'done' | 'refused' | 'failed'): Promise<string | null> {
  await until(async () => (await bench.answerTo(id))?.state === state);
  return (await bench.answerTo(id))!.message;
}

const states = (): string[] => bench.manifests().map(({ state }) => state);

beforeEach(async () => {
  await bench.start();
});
afterEach(async () => {
  await trainer.stop();
  await bench.stop();
});

it('is done and answered, once for each wish, whatever is trained or restarted later', async () => {
  await trainer.start();
  await trainer.trainTo(3);
  const id = await bench.wishFor(1, 'too many lists');
  expect(await answered(id, 'done')).toBeNull();
  expect(await bench.board()).toMatchObject({ version: 1, adapter: 'hindcast-v000001' });
  expect(states()).toEqual(['published', 'rolled-back', 'rolled-back']);
  expect(bench.manifests()[2]!.reason).toBe('rolled back to version 1: too many lists');
  expect(existsSync(join(bench.policyDir, 'rollback.json'))).toBe(false);

  await trainer.trainTo(4);
  expect(bench.manifests()[3]).toMatchObject({ version: 4, parent: 1 });
  await trainer.stop();
  await bench.nats.restart();
  // What the trainer did it knows itself, should the bus not have heard of it.
  await until(async () => (await bench.board().catch(() => null)) !== null);
  await bench.forgetAnswer();
  await trainer.start();
  expect(await answered(id, 'done')).toBeNull();
  expect((await bench.board())?.version).toBe(4);
  await trainer.stop();
  writeFileSync(join(bench.policyDir, 'rollback-answer.json'), '{');
  await trainer.start();
  await trainer.trainTo(5);
  expect(bench.manifests()[4]).toMatchObject({ parent: 4 });

  const second = await bench.wishFor(1);
  expect(await answered(second, 'done')).toBeNull();
  expect(states()).toEqual(['published', 'rolled-back', 'rolled-back', 'rolled-back', 'rolled-back']);
});

it('that nobody was there to do is done at the next start, before anything else', async () => {
  await trainer.start();
  await trainer.trainTo(2);
  await trainer.stop();
  const id = await bench.wishFor(0);
  await bench.nats.restart();
  await trainer.start();
  expect(await answered(id, 'done')).toBeNull();
  expect(await bench.board()).toMatchObject({ version: 0, adapter: null });
  await until(() => String(states()) === 'rolled-back,rolled-back');
});

it('that no engine can follow is answered as failed, and tried again', async () => {
  await trainer.start();
  await trainer.trainTo(2);
  await bench.engine.die();
  const id = await bench.wishFor(1);
  expect(await answered(id, 'failed')).toMatch(/no engine took version 1/);
  expect((await bench.board())?.version).toBe(2);
  await bench.engine.start();
  expect(await answered(id, 'done')).toBeNull();
  expect((await bench.board())?.version).toBe(1);
});

it('is refused, with what can be done, to a version that cannot serve', async () => {
  await trainer.start({ KEEP_VERSIONS: '3' });
  await trainer.trainTo(5);
  const refusal = async (version: number): Promise<string | null> => answered(await bench.wishFor(version), 'refused');
  expect(await refusal(9)).toBe('version 9 did not serve before version 5; these did: 4, 3, 2, 1, 0');
  await until(() => !existsSync(join(bench.policyDir, 'v000001', 'adapter_model.safetensors')));
  expect(await refusal(1)).toMatch(/weights of version 1 are deleted, KEEP_VERSIONS .* these are there: 4, 3, 0$/);
  // Pages offer no other way back than these.
  await until(async () => String(((await bench.settings()) as { kept: number[] }).kept) === '5,4,3');
  writeFileSync(join(bench.policyDir, 'v000003', 'adapter_config.json'), '{}');
  expect(await refusal(3)).toMatch(/adapter_config.json is not the file .* go back to another one of 4, 3, 0$/);
  await answered(await bench.wishFor(4), 'done');
  expect(await refusal(5)).toBe('version 5 did not serve before version 4; these did: 3, 2, 1, 0');
  expect((await bench.board())?.version).toBe(4);
});

it('a wish that is none keeps nobody from anything', async () => {
  await trainer.start();
  await trainer.trainTo(1);
  await bench.wishFor(-1);
  await trainer.trainTo(2);
  await answered(await bench.wishFor(1), 'done');
});
