import { weightShapes } from '@hindcast/language-model';
import { flopsOf, productsOf, sizeOf, SIZES, type SizeName } from './sizes';
import { samplesOf } from './workload';

const parametersOf = (name: SizeName): number =>
  [...weightShapes(sizeOf(name).config).values()].reduce(
    (sum, shape) => sum + shape.reduce((product, dim) => product * dim, 1),
    0,
  );

it.each<[SizeName, number]>([
  ['0.77M', 0.77e6],
  ['3.5M', 3.5e6],
  ['11M', 11e6],
  ['lora-0.6B', 0.6e9],
])('%s has about as many weights as its name says', (name, parameters) =>
  expect(Math.abs(parametersOf(name) / parameters - 1)).toBeLessThan(0.03),
);

/** Weights of matrices, and those of them that only the positions need which predict an answer. */
function matricesOf(name: SizeName): { all: number; late: number } {
  const { config } = sizeOf(name);
  const { hiddenSize, heads, headDim, intermediateSize, vocabSize } = config;
  const gains = hiddenSize * (2 * config.layers + 1) + (config.queryKeyNorm ? 2 * headDim * config.layers : 0);
  const late = hiddenSize * (heads * headDim + 3 * intermediateSize + vocabSize);
  return { all: parametersOf(name) - gains, late };
}

it('counts six operations per weight and token where all are trained, and attention', () => {
  const { config, samples, length } = sizeOf('3.5M');
  const { all, late } = matricesOf('3.5M');
  const dense = 6 * samples * ((all - late) * length + late * (1 + (3 * length) / 4));
  const attention = 12 * config.layers * samples * config.heads * config.headDim * length ** 2;
  expect(flopsOf(productsOf(sizeOf('3.5M')))).toBe(dense + attention);
});

it('counts no gradient of a frozen weight', () => {
  const { config, samples, length } = sizeOf('lora-0.6B');
  const { all, late } = matricesOf('lora-0.6B');
  const frozen = 4 * samples * ((all - late) * length + late * (1 + (3 * length) / 4));
  const attention = 12 * config.layers * samples * config.heads * config.headDim * length ** 2;
  const rest = flopsOf(productsOf(sizeOf('lora-0.6B'))) - attention - frozen;
  // The adapter: ten million weights, six operations each.
  expect(rest / frozen).toBeGreaterThan(0.02);
  expect(rest / frozen).toBeLessThan(0.04);
});

it.each(SIZES)('%s has samples of exactly its length', (name) => {
  const { samples, length } = sizeOf(name);
  const made = samplesOf(sizeOf(name));
  expect(made).toHaveLength(samples);
  for (const { promptIds, responseIds } of made) expect(promptIds.length + responseIds.length - 1).toBe(length);
});
