import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { float32Tensor, readModelConfig, sizeOf, weightShapes, writeModelWeights } from '@hindcast/language-model';

const REGISTER = join(__dirname, '../../../libs/platform/src/testing/register.cjs');

/** 14 million weights. */
const CONFIG = {
  model_type: 'llama',
  hidden_act: 'silu',
  vocab_size: 6000,
  hidden_size: 384,
  num_hidden_layers: 6,
  num_attention_heads: 6,
  intermediate_size: 1024,
  rms_norm_eps: 1e-5,
  rope_theta: 10000,
  max_position_embeddings: 64,
};

let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'hindcast-memory-'));
  mkdirSync(join(folder, 'model'));
  writeFileSync(join(folder, 'model', 'config.json'), JSON.stringify(CONFIG));
  const shapes = [...weightShapes(await readModelConfig(join(folder, 'model')))];
  const weights = shapes.map(
    ([name, shape]) => [name, float32Tensor(shape, new Float32Array(sizeOf(shape)).fill(0.01))] as const,
  );
  await writeModelWeights(join(folder, 'model'), new Map(weights));
}, 60_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it('a state of full weights takes weights and moments once, to begin with, to write and to read', async () => {
  for (const what of ['begin', 'go-on']) {
    const { stdout } = await promisify(execFile)(process.execPath, [
      ...['-r', REGISTER, join(__dirname, 'testing/hold-state.ts')],
      ...[join(folder, 'model'), join(folder, 'policies'), what],
    ]);
    const { extra, parameters } = JSON.parse(stdout) as { extra: number; parameters: number };
    expect(parameters).toBeGreaterThan(10e6);
    const bytes = extra / parameters;
    // float32 weights and two moments are 12; a second copy of the weights alone would make 16.
    expect([what, bytes < 15, bytes > 10.5]).toEqual([what, true, true]);
  }
}, 120_000);
