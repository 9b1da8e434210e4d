import { mergeLora, readModelConfig, readModelWeights, type LlamaConfig } from '@hindcast/language-model';
import type { KvCache } from './core/kv-cache';
import { ForwardPass } from './forward-pass';
import {
  largestDifference,
  randomAdapter,
  randomWeights,
  SEED_DIR,
  smallConfig,
  trainerLogProbs,
} from './testing/models';

const open: ForwardPass[] = [];
afterEach(async () => {
  for (const forward of open.splice(0)) await forward.release();
});
async function created(...args: Parameters<typeof ForwardPass.create>): Promise<ForwardPass> {
  const forward = await ForwardPass.create(...args);
  open.push(forward);
  return forward;
}

const sequence = (length: number, vocabSize: number, seed = 3): number[] =>
  Array.from({ length }, (_, i) => (i * i * 7 + i * seed + seed) % vocabSize);

/** log π of each token after the first, read in pieces of the given sizes. */
async function scored(forward: ForwardPass, cache: KvCache, ids: readonly number[], pieces: readonly number[]) {
  const { vocabSize } = forward.config;
  const logProbs: number[] = [];
  let at = 0;
  for (const size of pieces) {
    const piece = ids.slice(at, at + size);
    const rows = await forward.run(cache, piece, 'all');
    piece.forEach((_, i) => {
      const next = ids[at + i + 1];
      if (next !== undefined) logProbs.push(rows[i * vocabSize + next]!);
    });
    at += size;
  }
  return logProbs;
}

describe('log-probs equal the trainer’s', () => {
  const architectures: [string, Partial<LlamaConfig>][] = [
    ['LLaMA, untied, six heads over two', {}],
    ['tied, one head per key head', { tieWordEmbeddings: true, kvHeads: 6 }],
    ['Qwen2: biases', { architecture: 'qwen2', attentionBias: true }],
    ['LLaMA with every bias', { attentionBias: true, attentionOutputBias: true, mlpBias: true }],
    ['Qwen3: query and key norms', { architecture: 'qwen3', queryKeyNorm: true }],
    [
      'Qwen3, tied, with biases',
      { architecture: 'qwen3', queryKeyNorm: true, attentionBias: true, tieWordEmbeddings: true },
    ],
    [
      'LLaMA 3: a stretched rotation',
      {
        ropeTheta: 500000,
        ropeScaling: { factor: 8, lowFrequencyFactor: 1, highFrequencyFactor: 4, originalMaxPositions: 32 },
      },
    ],
  ];
  it.each(architectures)('%s', async (_, changes) => {
    const config = { ...smallConfig, ...changes };
    const weights = randomWeights(config, 5);
    const forward = await created(config, weights, 1);
    const ids = sequence(80, config.vocabSize);
    const cache = forward.newCache();
    cache.addRow();
    const logProbs = await scored(forward, cache, ids, [66, 1, 1, 12]);
    expect(largestDifference(logProbs, await trainerLogProbs(config, weights, ids))).toBeLessThan(1e-5);
  });

  it('the seed model, with and without an adapter', async () => {
    const config = await readModelConfig(SEED_DIR);
    const weights = await readModelWeights(SEED_DIR, config);
    const tensors = randomAdapter(config, 1);
    const ids = sequence(50, config.vocabSize);
    const base = await created(config, weights, 1);
    const adapted = await created(config, mergeLora(weights, tensors, 2), 1);
    const [plain, changed] = [base.newCache(), adapted.newCache()];
    plain.addRow();
    changed.addRow();
    const ofBase = await scored(base, plain, ids, [40, 10]);
    const ofAdapter = await scored(adapted, changed, ids, [40, 10]);
    expect(largestDifference(ofBase, await trainerLogProbs(config, weights, ids))).toBeLessThan(1e-4);
    expect(
      largestDifference(ofAdapter, await trainerLogProbs(config, weights, ids, { tensors, scale: 2 })),
    ).toBeLessThan(1e-4);
    expect(largestDifference(ofBase, ofAdapter)).toBeGreaterThan(0.01);
  });
});

it('reads prompts together as each alone, and keeps what the next tokens need', async () => {
  const config = { ...smallConfig, architecture: 'qwen3' as const, queryKeyNorm: true };
  const forward = await created(config, randomWeights(config, 4), 1);
  const rows = [1, 40, 7, 90].map((length, i) => sequence(length + 5, config.vocabSize, i + 1));
  const expected = await Promise.all(rows.map((ids) => trainerLogProbs(config, randomWeights(config, 4), ids)));
  const reading = await forward.read(rows.map((ids, i) => ({ ids: ids.slice(0, -5), picked: i % 2 ? 'all' : 'last' })));
  rows.forEach((ids, i) => {
    const from = i % 2 ? 0 : ids.length - 6;
    expect(reading.logProbs[i]).toHaveLength((i % 2 ? ids.length - 5 : 1) * config.vocabSize);
    for (let at = from; at < ids.length - 5; at++)
      expect(
        Math.abs(reading.logProbs[i]![(at - from) * config.vocabSize + ids[at + 1]!]! - expected[i]![at]!),
      ).toBeLessThan(1e-5);
  });
  const cache = forward.newCache();
  const kept = [3, 0, 2];
  for (const i of kept) reading.keep(i, cache);
  for (let step = 0; step < 4; step++) {
    const logProbs = await forward.run(
      cache,
      kept.map((i) => rows[i]!.at(step - 5)!),
      'last',
    );
    kept.forEach((i, row) => {
      const next = rows[i]!.at(step - 4)!;
      expect(Math.abs(logProbs[row * config.vocabSize + next]! - expected[i]!.at(step - 4)!)).toBeLessThan(1e-5);
    });
  }
});

it('gives each row of a batch what it gets alone, whatever joins, leaves or stands in the padding', async () => {
  const config = smallConfig;
  const forward = await created(config, randomWeights(config, 9), 1);
  const rows = [130, 3, 60].map((length, i) => sequence(length + 6, config.vocabSize, i + 1));
  const alone: number[][] = [];
  for (const ids of rows) {
    const cache = forward.newCache();
    cache.addRow();
    alone.push(await scored(forward, cache, ids, [ids.length]));
  }
  const batch = forward.newCache();
  for (const ids of rows) {
    const cache = forward.newCache();
    cache.addRow();
    await forward.run(cache, ids.slice(0, -6), 'last');
    batch.adopt(cache);
  }
  let members = [0, 1, 2];
  for (let step = 0; step < 5; step++) {
    const tokens = members.map((m) => rows[m]!.at(step - 6)!);
    const logProbs = await forward.run(batch, tokens, 'last');
    members.forEach((m, row) => {
      const next = rows[m]!.at(step - 5)!;
      expect(Math.abs(logProbs[row * config.vocabSize + next]! - alone[m]!.at(step - 5)!)).toBeLessThan(1e-5);
    });
    if (step === 2) {
      // The longest leaves: the last row takes its place and the cache shrinks.
      batch.removeRow(0);
      members = [2, 1];
    }
  }
});

it('refuses weights that do not fit the configuration', async () => {
  const weights = randomWeights(smallConfig, 1);
  await expect(created({ ...smallConfig, layers: 3 }, weights, 1)).rejects.toThrow(
    'the model has no weight model.layers.2.input_layernorm.weight',
  );
  await expect(created({ ...smallConfig, intermediateSize: 21 }, weights, 1)).rejects.toThrow('has shape [20, 12]');
});
