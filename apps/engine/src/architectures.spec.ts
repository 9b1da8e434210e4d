import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mergeLora, mulberry32, readPeftAdapter, writePeftAdapter, type LlamaConfig } from '@hindcast/language-model';
import { drawer } from './core/draw';
import type { TokenScore } from './core/token-score';
import { ForwardPass } from './forward-pass';
import { Scheduler } from './scheduler';
import { largestDifference, randomAdapter, randomWeights, smallConfig, trainerLogProbs } from './testing/models';

const architectures: [string, Partial<LlamaConfig>][] = [
  [
    'LLaMA 3: stretched rotation, tied',
    {
      tieWordEmbeddings: true,
      ropeTheta: 500000,
      ropeScaling: { factor: 4, lowFrequencyFactor: 1, highFrequencyFactor: 4, originalMaxPositions: 64 },
    },
  ],
  ['Qwen2: biases', { architecture: 'qwen2', attentionBias: true }],
  ['Qwen3: query and key norms', { architecture: 'qwen3', queryKeyNorm: true }],
];

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'engine-adapter-'));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

/** An adapter of rank 4 as PEFT writes it, rank-stabilised: its scale is alpha / √rank. */
async function rsLora(config: LlamaConfig) {
  const tensors = randomAdapter(config, 3);
  const targetModules = ['q_proj', 'k_proj', 'v_proj', 'o_proj', 'gate_proj', 'up_proj', 'down_proj'];
  await writePeftAdapter(dir, { rank: 4, alpha: 8, baseModel: 'm', targetModules, tensors });
  const path = join(dir, 'adapter_config.json');
  await writeFile(path, JSON.stringify({ ...JSON.parse(await readFile(path, 'utf8')), use_rslora: true }));
  const adapter = await readPeftAdapter(dir, config);
  expect(adapter.scale).toBe(4);
  return adapter;
}

/** Samples 16 tokens behind a prompt; the log-probs of all ids but the first, as the engine gives them. */
function answer(scheduler: Scheduler, weights: ForwardPass, promptIds: number[], seed: number) {
  const scores: TokenScore[] = [];
  return new Promise<{ ids: number[]; logProbs: number[] }>((resolve, reject) => {
    scheduler.submit({
      weights,
      promptIds,
      promptTop: 0,
      top: 0,
      maxTokens: 16,
      sample: drawer({ temperature: 1, topP: 1, topK: 0, seed }, mulberry32(seed)),
      onToken: (score) => {
        scores.push(score);
        return false;
      },
      onDone: (prompt) => {
        const all = [...(prompt ?? []), ...scores];
        resolve({ ids: [...promptIds, ...scores.map(({ id }) => id)], logProbs: all.map(({ logProb }) => logProb) });
      },
      onError: reject,
    });
  });
}

it.each(architectures)(
  '%s: answers of the base model and of an adapter, at once, have the trainer’s log-probs',
  async (_, changes) => {
    const config = { ...smallConfig, ...changes };
    const weights = randomWeights(config, 8);
    const adapter = await rsLora(config);
    const base = await ForwardPass.create(config, weights, 1);
    const adapted = await ForwardPass.create(config, mergeLora(weights, adapter.tensors, adapter.scale), 1);
    const scheduler = new Scheduler(6);
    try {
      const prompts = [1, 25, 70, 12].map((length, i) =>
        Array.from({ length }, (_, at) => (at * (i + 2) + i) % config.vocabSize),
      );
      const answers = await Promise.all(
        prompts.map((prompt, i) => answer(scheduler, i % 2 ? adapted : base, prompt, i)),
      );
      for (const [i, { ids, logProbs }] of answers.entries()) {
        const expected = await trainerLogProbs(config, weights, ids, i % 2 ? adapter : undefined);
        expect(largestDifference(logProbs, expected)).toBeLessThan(2e-5);
      }
    } finally {
      await base.release();
      await adapted.release();
    }
  },
);
