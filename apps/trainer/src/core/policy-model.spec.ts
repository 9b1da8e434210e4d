import type { TopK } from '@hindcast/contracts';
import { float32Tensor, mulberry32, type LlamaConfig } from '@hindcast/language-model';
import { chooseBackend } from '../backends/choose-backend';
import { hyperparameters, loraTuning, trainingSample } from '../testing/fixtures';
import { dataOf, tinyConfig, tinyModel, tinyState } from '../testing/toy-policy';
import { globalNorm } from './adam';
import type { ResponseNumbers } from './batch-tensors';
import type { ComputeBackend } from './compute-backend';
import type { Hyperparameters } from './hyperparameters';
import type { PassOptions, PolicyModel } from './policy-model';
import { trainStep } from './train-step';
import type { TrainedWeights } from './tuning';

let wasm: ComputeBackend;
let onnx: ComputeBackend;
beforeAll(async () => {
  onnx = (await chooseBackend('onnx', 1)).backend;
  wasm = (await chooseBackend('wasm', 1)).backend;
});
afterAll(() => Promise.all([wasm.dispose(), onnx.dispose()]));

const lora = (over: Partial<Hyperparameters> = {}): Hyperparameters =>
  hyperparameters({ tuning: loraTuning(), ...over });
const full = (over: Partial<Hyperparameters> = {}): Hyperparameters =>
  hyperparameters({ tuning: { kind: 'full' }, ...over });
const { loss } = hyperparameters();

const samples = [
  trainingSample({ promptIds: Int32Array.of(1, 2, 3), responseIds: Int32Array.of(4, 5, 6, 7) }),
  trainingSample({ promptIds: Int32Array.of(8, 9), responseIds: Int32Array.of(10, 1, 2) }),
];
/** Near what the model gives, so that the clip leaves most tokens their gradient. */
const OLD_LOG_PROBS = [
  [-2.75, -2.2, -3.2, -3.3],
  [-3.4, -2.4, -3.8],
];
/** Of everything that the loss can read. */
const numbers: ResponseNumbers[] = samples.map(({ responseIds: { length } }, i) => ({
  oldLogProbs: OLD_LOG_PROBS[i]!,
  advantages: Float32Array.from({ length }, (_, t) => Math.cos(2 * i + t)),
  weights: Float32Array.from({ length }, () => 0.5 / length),
  refLogProbs: Float32Array.from({ length }, (_, t) => -2.5 + 0.3 * Math.cos(i + 2 * t)),
}));
const topK: TopK = {
  k: 2,
  ids: Int32Array.of(4, 1, 5, 2, 3, 6, 7, 8),
  logProbs: Float32Array.from([0.6, 0.2, 0.5, 0.3, 0.4, 0.4, 0.7, 0.1], Math.log),
};

const everything = { ...loss, klCoef: 0.3, entropyCoef: 0.1, topKCoef: 0.5 };
const withTopK = numbers.map((each, i) => (i === 0 ? { ...each, topK } : each));

async function lossOf(model: PolicyModel, weights: TrainedWeights, options?: PassOptions): Promise<number> {
  return (await model.gradients(samples, withTopK, weights, options)).scalars['loss']!;
}

/** The weights, those of one name moved along its direction. */
function moved(weights: TrainedWeights, name: string, direction: Float32Array, by: number): TrainedWeights {
  const { shape, data } = weights.get(name)!;
  return new Map(weights).set(
    name,
    float32Tensor(
      shape,
      data.map((x, i) => x + by * direction[i]!),
    ),
  );
}

describe('the gradient of every weight', () => {
  const configs: { name: string; config: LlamaConfig }[] = [
    { name: 'tied embeddings', config: tinyConfig },
    {
      name: 'untied, biases and head norms',
      config: { ...tinyConfig, tieWordEmbeddings: false, attentionBias: true, queryKeyNorm: true },
    },
  ];
  it.each([
    ...configs.map((each) => ({ ...each, hyper: full({ loss: everything }) })),
    { name: 'an adapter', config: tinyConfig, hyper: lora({ loss: everything }) },
  ])('is that of finite differences: $name, with KL, entropy and top-K', async ({ config, hyper }) => {
    const model = tinyModel(onnx, hyper, { config });
    const { weights } = tinyState(hyper, config);
    const { gradients } = await model.gradients(samples, withTopK, weights);
    expect([...gradients.keys()].sort()).toEqual([...weights.keys()].sort());
    const uniform = mulberry32(5);
    for (const [name, gradient] of gradients) {
      const direction = gradient.map(() => (uniform() < 0.5 ? -1 : 1));
      const slope = gradient.reduce((sum, g, i) => sum + g * direction[i]!, 0);
      const h = 2e-3;
      const at = async (by: number): Promise<number> => await lossOf(model, moved(weights, name, direction, by));
      // Fourth order: what is left is float32's noise, 1e-7 / h.
      const difference = (8 * ((await at(h)) - (await at(-h))) - ((await at(2 * h)) - (await at(-2 * h)))) / (12 * h);
      expect(Math.abs(difference - slope)).toBeLessThan(3e-4 * Math.max(1, Math.abs(slope)));
    }
    expect(globalNorm(gradients)).toBeGreaterThan(0.05);
  });

  it.each(['lora', 'full'] as const)(
    '%s: is the same with activations made again, op by op, and in a recorded graph',
    async (tuning) => {
      const hyper = tuning === 'lora' ? lora({ loss: everything }) : full({ loss: everything });
      const { weights } = tinyState(hyper);
      const [plain, again, recorded] = await Promise.all(
        [tinyModel(wasm, hyper), tinyModel(wasm, hyper, { recompute: true }), tinyModel(onnx, hyper)].map((model) =>
          model.gradients(samples, withTopK, weights),
        ),
      );
      for (const other of [again!, recorded!]) {
        expect(other.scalars['loss']).toBeCloseTo(plain!.scalars['loss']!, 5);
        for (const [name, gradient] of plain!.gradients)
          other.gradients.get(name)!.forEach((g, i) => expect(Math.abs(g - gradient[i]!)).toBeLessThan(1e-5));
      }
    },
  );
});

describe('dropout of an adapter', () => {
  const hyper = lora({ tuning: loraTuning({ dropout: 0.25 }) });
  const { weights } = tinyState(hyper);
  const gradientsWith = async (model: PolicyModel, dropoutSeed: number | null) =>
    (await model.gradients(samples, numbers, weights, { dropoutSeed })).gradients;

  it('follows from its seed: the same again, others from another seed, none without', async () => {
    const model = tinyModel(wasm, hyper);
    const first = await gradientsWith(model, 3);
    expect(await gradientsWith(model, 3)).toEqual(first);
    expect(await gradientsWith(model, 4)).not.toEqual(first);
    const whole = await gradientsWith(tinyModel(wasm, lora()), 3);
    expect(first).not.toEqual(whole);
    expect(await gradientsWith(model, null)).toEqual(whole);
  });

  it('draws the same in a recorded graph, in other micro-batches, and with activations made again', async () => {
    const expected = await gradientsWith(tinyModel(wasm, hyper), 3);
    const others = [
      tinyModel(onnx, hyper),
      tinyModel(wasm, { ...hyper, tokenBudget: 64 }),
      tinyModel(wasm, hyper, { recompute: true }),
    ];
    for (const model of others) {
      const gradients = await gradientsWith(model, 3);
      for (const [name, gradient] of expected)
        gradients.get(name)!.forEach((g, i) => expect(Math.abs(g - gradient[i]!)).toBeLessThan(1e-6));
    }
  });

  it('is no part of the log-probs', async () => {
    const [dropped, plain] = [hyper, lora()].map((each) => tinyModel(wasm, each));
    expect(await dropped!.responseLogProbs(samples, weights)).toEqual(await plain!.responseLogProbs(samples, weights));
  });
});

describe('top-K distillation', () => {
  const hyper = full({ loss: { ...loss, topKCoef: 1 }, wRl: 0, learningRate: 0.02 });

  it('brings the student to the teacher, where a sample has its ids', async () => {
    const model = tinyModel(wasm, hyper);
    const batch = [{ ...samples[0]!, topK }, samples[1]!];
    let state = tinyState(hyper);
    const losses: number[] = [];
    for (let i = 0; i < 30; i++) {
      const result = await trainStep(model, batch, state, hyper, 0);
      if (!result.ok) throw new Error('the step was refused');
      losses.push(result.metrics['loss/top_k']!);
      state = result.state;
    }
    expect(losses[0]).toBeGreaterThan(0.05);
    expect(losses.at(-1)).toBeLessThan(0.1 * losses[0]!);
  });

  it('leaves the log-probs of the sampled ids, and the rest of the loss, as they are', async () => {
    const { weights } = tinyState(hyper);
    const both = { ...hyper, loss: { ...hyper.loss, entropyCoef: 0.1 } };
    const [without, taught] = await Promise.all(
      [numbers, withTopK].map((each) => tinyModel(wasm, both).gradients(samples, each, weights)),
    );
    taught!.logProbs.forEach((row, i) =>
      row.forEach((logProb, t) => expect(logProb).toBeCloseTo(without!.logProbs[i]![t]!, 5)),
    );
    expect(without!.scalars['topKLoss']).toBeUndefined();
    const { loss: total, policyLoss, entropy, topKLoss } = taught!.scalars;
    expect(total).toBeCloseTo(policyLoss! - 0.1 * entropy! + topKLoss!, 6);
    expect(entropy).toBeCloseTo(without!.scalars['entropy']!, 6);
  });

  it('counts a sample without as 0 in the mean over samples', async () => {
    const { weights } = tinyState(hyper);
    const model = tinyModel(wasm, hyper);
    const one = await model.gradients([samples[0]!], [{ ...withTopK[0]!, weights: [0.25, 0.25, 0.25, 0.25] }], weights);
    const two = await model.gradients(samples, withTopK, weights);
    expect(two.scalars['topKLoss']).toBeCloseTo(one.scalars['topKLoss']! / 2, 6);
  });
});

it('micro-batches add up to the gradient, the loss and the log-probs of the whole batch', async () => {
  const hyper = full({ loss: everything });
  const { weights } = tinyState(hyper);
  const whole = await tinyModel(wasm, hyper).gradients(samples, withTopK, weights);
  const cut = await tinyModel(wasm, { ...hyper, tokenBudget: 64 }).gradients(samples, withTopK, weights);
  for (const [name, gradient] of whole.gradients)
    cut.gradients.get(name)!.forEach((g, i) => expect(Math.abs(g - gradient[i]!)).toBeLessThan(2e-7));
  for (const [name, value] of Object.entries(whole.scalars)) expect(cut.scalars[name]).toBeCloseTo(value, 6);
  expect(cut.logProbs).toEqual(whole.logProbs);
});

it('without its regularisers is the surrogate alone, though their numbers are there', async () => {
  const hyper = lora({ loss: everything });
  const { weights } = tinyState(hyper);
  const bare = numbers.map(({ oldLogProbs, advantages, weights: token }) => ({
    oldLogProbs,
    advantages,
    weights: token,
  }));
  const got = await tinyModel(onnx, hyper).gradients(samples, withTopK, weights, { regularised: false });
  const expected = await tinyModel(onnx, lora()).gradients(samples, bare, weights);
  expect(got.gradients).toEqual(expected.gradients);
  expect(got.scalars).toEqual(expected.scalars);
});

it('changes no weight that it was given', async () => {
  const hyper = full();
  const { weights } = tinyState(hyper);
  await tinyModel(onnx, hyper).gradients(samples, numbers, weights);
  expect(dataOf(weights)).toEqual(dataOf(tinyState(hyper).weights));
});
