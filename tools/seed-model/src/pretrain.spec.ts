import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type LlamaConfig, loadTokenizer, readModelConfig } from '@hindcast/language-model';
import { AdamW } from './adam-w';
import { type Batch, batches } from './batches';
import { checkpointSteps, loadCheckpoint, type Progress, saveCheckpoint } from './checkpoint';
import { tokenizerTexts } from './corpus';
import { DocumentEncoder } from './encoded-document';
import { learnTokenizer, writeModelFiles } from './model-files';
import { initialParameters, type ParameterSlice, parameterSlices } from './parameters';
import { pretrain } from './pretrain';
import { Shard } from './shard';

const size = { vocabSize: 1024, hiddenSize: 16, layers: 1, heads: 2, kvHeads: 1, intermediateSize: 16 };
const adamW = { beta1: 0.9, beta2: 0.98, epsilon: 1e-9, weightDecay: 0.05, maxNorm: 1 };

describe('pre-training', () => {
  let dir: string;
  let config: LlamaConfig;
  let slices: ParameterSlice[];
  let stock: Batch[];
  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'hindcast-pretrain-'));
    await writeModelFiles(dir, size, learnTokenizer(tokenizerTexts(0, 2000), size.vocabSize));
    config = await readModelConfig(dir);
    slices = parameterSlices(config);
    const stream = batches(new DocumentEncoder(await loadTokenizer(dir)), 'test', 0);
    stock = Array.from({ length: 150 }, () => stream.next().value).filter(({ length }) => length === 52);
  });
  afterAll(() => rm(dir, { recursive: true }));

  // The same few batches again and again, of one row length: each takes a compilation.
  function* fewBatches(skip: number): Generator<Batch, never> {
    for (let index = skip; ; index += 1) yield stock[index % stock.length] as Batch;
  }

  function newRun(skip = 0) {
    const parameters = initialParameters(config, 1);
    const gradient = new Float32Array(parameters.length);
    const shard = new Shard(config, slices, fewBatches(skip), 1);
    const source = { parameters, step: async () => ({ ...(await shard.step(parameters, gradient)), gradient }) };
    const optimizer = new AdamW(slices, parameters.length, adamW);
    return { source, optimizer, parameters };
  }

  const noProgress = (): Progress => ({ tokens: 0, seconds: 0, curve: [] });

  const trainUntil = (steps: number, run: ReturnType<typeof newRun>, progress: Progress, losses: number[] = []) =>
    pretrain({
      ...run,
      tokenBudget: 1e6,
      progress,
      now: () => 0,
      afterStep: (loss) => void losses.push(loss),
      isInterrupted: () => run.optimizer.steps === steps,
    });

  it('makes the model expect what is said in its world', async () => {
    const losses: number[] = [];
    const progress = noProgress();
    await trainUntil(120, newRun(), progress, losses);
    const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
    expect(losses[0]).toBeCloseTo(Math.log(size.vocabSize), 0);
    expect(mean(losses.slice(-10))).toBeLessThan(mean(losses.slice(0, 10)) - 2);
    expect(progress.curve).toHaveLength(1);
    expect(progress.curve[0]?.loss).toBeCloseTo(mean(losses.slice(0, 100)), 6);
  });

  it('ends when the token budget is used', async () => {
    const progress: Progress = { ...noProgress(), tokens: 1e6 - 1 };
    const losses: number[] = [];
    await trainUntil(5, newRun(), progress, losses);
    expect(losses).toHaveLength(1);
    expect(progress.curve).toEqual([{ step: 1, tokens: progress.tokens, seconds: 0, loss: losses[0] }]);
  });

  it('comes to the very same weights after an interruption', async () => {
    const path = join(dir, 'checkpoint.safetensors');
    const settings = { seed: 1, tokenBudget: 1e6, workers: 1 };
    const whole = newRun();
    await trainUntil(6, whole, noProgress());

    const first = newRun();
    const progress = noProgress();
    await trainUntil(3, first, progress);
    await saveCheckpoint(path, settings, { ...first, progress });

    const second = newRun(await checkpointSteps(path, settings));
    const resumed = await loadCheckpoint(path, settings, second);
    if (resumed === null) throw new Error('the checkpoint was not found');
    await trainUntil(6, second, resumed);
    expect(Buffer.from(second.parameters.buffer).equals(Buffer.from(whole.parameters.buffer))).toBe(true);
  });

  it('does not continue a run with other settings', async () => {
    const path = join(dir, 'other.safetensors');
    const settings = { seed: 1, tokenBudget: 1e6, workers: 1 };
    await saveCheckpoint(path, settings, { ...newRun(), progress: { tokens: 5, seconds: 1, curve: [] } });
    const other = { ...settings, seed: 2 };
    expect(await loadCheckpoint(path, other, newRun())).toBeNull();
    expect(await checkpointSteps(path, other)).toBe(0);
    expect(await loadCheckpoint(join(dir, 'none'), settings, newRun())).toBeNull();
    expect(await loadCheckpoint(path, settings, newRun())).toEqual({ tokens: 5, seconds: 1, curve: [] });
  });
});
