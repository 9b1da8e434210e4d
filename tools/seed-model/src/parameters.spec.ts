import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type LlamaConfig, readModelConfig } from '@hindcast/language-model';
import { learnTokenizer, seedModelSize, writeModelFiles } from './model-files';
import { initialParameters, namedTensors, parameterCount, parameterSlices } from './parameters';

describe('the seed model before training', () => {
  let dir: string;
  let config: LlamaConfig;
  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'hindcast-parameters-'));
    await writeModelFiles(dir, seedModelSize, learnTokenizer([], seedModelSize.vocabSize));
    config = await readModelConfig(dir);
  });
  afterAll(() => rm(dir, { recursive: true }));

  it('has 722,048 parameters without gaps', () => {
    const slices = parameterSlices(config);
    expect(parameterCount(slices)).toBe(722_048);
    slices.forEach(({ begin }, index) => expect(begin).toBe(index === 0 ? 0 : slices[index - 1]?.end));
  });

  it('draws every weight with its deviation, and the same for the same seed', () => {
    const tensors = namedTensors(parameterSlices(config), initialParameters(config, 1));
    const deviation = (name: string): number => {
      const { data } = tensors.get(name) ?? { data: new Float32Array() };
      return Math.sqrt(data.reduce((sum, value) => sum + value * value, 0) / data.length);
    };
    const near = (name: string, expected: number) => expect(deviation(name) / expected).toBeCloseTo(1, 1);
    near('model.embed_tokens.weight', 0.05);
    near('model.layers.0.self_attn.q_proj.weight', 1 / Math.sqrt(128));
    near('model.layers.3.self_attn.o_proj.weight', 1 / Math.sqrt(128 * 8));
    near('model.layers.3.mlp.down_proj.weight', 1 / Math.sqrt(256 * 8));
    expect([...(tensors.get('model.norm.weight')?.data ?? [])]).toEqual(new Array(128).fill(1));
    const small = { ...config, vocabSize: 8, hiddenSize: 8, intermediateSize: 8, headDim: 2, layers: 1 };
    const bytes = (seed: number) => Buffer.from(initialParameters(small, seed).buffer);
    expect(bytes(1).equals(bytes(1))).toBe(true);
    expect(bytes(1).equals(bytes(2))).toBe(false);
  });
});
