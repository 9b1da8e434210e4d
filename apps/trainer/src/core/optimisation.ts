import { adamStep, clipByGlobalNorm, globalNorm, type AdamState, type NamedArrays } from './adam';
import type { ResponseNumbers } from './batch-tensors';
import { mixedSeed } from './dropout-keys';
import { apart, givenBack, housed, without, type HousedState } from './housing';
import type { Hyperparameters } from './hyperparameters';
import type { BatchGradients, PolicyModel } from './policy-model';
import { partOf, responseNumbers, type MeasuredBatch } from './step-numbers';
import type { TrainingSample } from './training-sample';
import type { TrainedWeights } from './tuning';

/** One pass over the batch: what its mini-batches say together, in the order of the batch. */
export interface Epoch extends Omit<BatchGradients, 'gradients'> {
  /** Norm of the gradient before clipping, mean over the mini-batches. */
  readonly gradNorm: number;
}

export type Optimisation =
  | {
      readonly ok: true;
      readonly weights: TrainedWeights;
      readonly optimizer: AdamState;
      /** Whole passes over the batch, at least one. */
      readonly epochs: readonly Epoch[];
      /** Steps of the optimizer; 0 when no token had a gradient. */
      readonly updates: number;
      /** The KL to the old policy reached its bound before the last epoch was done. */
      readonly stoppedEarly: boolean;
    }
  | { readonly ok: false; readonly culprits: readonly TrainingSample[] };

/**
 * Epochs over one batch, each in mini-batches, each of those one step of the optimizer:
 *
 *   g = ∇L(mini-batch)    g ← g · min(1, c/‖g‖)    θ ← AdamW(θ, g)
 *
 * Of several epochs only the first finds the policy that sampled: from then on the clip acts. They end early once a mini-batch's
 * KL(π_old ‖ π_θ), by the k3 estimate, is above `targetKl`; that mini-batch makes no step. A gradient of exactly 0 makes no step either:
 * momentum alone is nothing that the samples asked for.
 *
 * PPO, Schulman et al. 2017, algorithm 1 (arXiv:1707.06347); the early stop is that of OpenAI's Spinning Up and Stable-Baselines3.
 *
 * @param start weights and optimizer before. The moments are used up. The weights are not changed, but what this gives may hold their
 *   arrays as spare ones, unless they are shared
 * @param seed  of the dropout masks of the step's passes
 */
export async function optimise(
  model: PolicyModel,
  measured: MeasuredBatch,
  advantages: readonly Float64Array[],
  hyper: Hyperparameters,
  learningRate: number,
  start: { readonly weights: TrainedWeights; readonly optimizer: AdamState; readonly isShared?: boolean },
  seed: number,
): Promise<Optimisation> {
  let { weights } = start;
  // An adapter has few weights beside all that its gradients are made of: no time to be saved, but memory.
  let optimizer = hyper.tuning.kind === 'full' ? housed(start.optimizer, dataOf(weights)) : apart(start.optimizer);
  let updates = 0;
  const parts = miniBatches(measured.samples.length, hyper.miniBatches).map((indices) => {
    const part = partOf(measured, indices);
    const numbers = responseNumbers(
      part,
      indices.map((i) => advantages[i]!),
      hyper,
    );
    return { indices, samples: part.samples, numbers };
  });
  const epochs: Epoch[] = [];
  for (let epoch = 0; epoch < hyper.epochs; epoch++) {
    const passes: Epoch[] = [];
    for (const [at, { samples, numbers }] of parts.entries()) {
      const dropoutSeed = mixedSeed(seed, epoch * parts.length + at);
      const into = optimizer.spares.at(-1);
      const pass = await model.gradients(samples, numbers, weights, { dropoutSeed, ...(into && { into }) });
      const { gradients, norm } = clipByGlobalNorm(pass.gradients, hyper.maxGradNorm);
      if (!isFinitePass(pass, norm))
        return { ok: false, culprits: await culpritsOf(model, samples, numbers, weights, pass) };
      if (epoch > 0 && hyper.targetKl !== null && pass.scalars['approxKl3']! > hyper.targetKl) {
        return { ok: true, weights, optimizer: leftOf(start, updates, optimizer), epochs, updates, stoppedEarly: true };
      }
      const { gradients: _, ...reported } = pass;
      passes.push({ ...reported, gradNorm: norm });
      if (norm === 0) continue;
      const updated = adamStep(dataOf(weights), gradients, optimizer, learningRate, hyper.adam);
      if (!updated.isFinite) return { ok: false, culprits: samples };
      const before = weights;
      weights = new Map(
        [...weights].map(([name, tensor]) => [name, { ...tensor, data: updated.parameters.get(name)! }]),
      );
      const inUse = { ...optimizer, step: updated.state.step, spares: without(optimizer.spares, updated.parameters) };
      optimizer = before === start.weights ? inUse : { ...inUse, spares: givenBack(inUse, dataOf(before)) };
      updates++;
    }
    epochs.push(
      together(
        passes,
        parts.map(({ indices }) => indices),
      ),
    );
  }
  return { ok: true, weights, optimizer: leftOf(start, updates, optimizer), epochs, updates, stoppedEarly: false };
}

/** The optimizer with the arrays of the weights that a step started from, which are spare once it has made others. */
function leftOf(
  { weights, isShared = false }: { readonly weights: TrainedWeights; readonly isShared?: boolean },
  updates: number,
  optimizer: HousedState,
): HousedState {
  return isShared || updates === 0 ? optimizer : { ...optimizer, spares: givenBack(optimizer, dataOf(weights)) };
}

/** Places of the samples of each mini-batch, as equal in number as can be, in the order of the batch. */
export function miniBatches(samples: number, count: number): number[][] {
  const parts = Math.min(count, samples);
  return Array.from({ length: parts }, (_, part) => {
    const [from, to] = [part, part + 1].map((k) => Math.floor((k * samples) / parts)) as [number, number];
    return Array.from({ length: to - from }, (_, i) => from + i);
  });
}

/** Samples whose loss is not finite; else those whose gradient alone is not; else, where only their sum is not, all. */
async function culpritsOf(
  model: PolicyModel,
  samples: readonly TrainingSample[],
  numbers: readonly ResponseNumbers[],
  weights: TrainedWeights,
  { sampleLosses }: Pick<BatchGradients, 'sampleLosses'>,
): Promise<readonly TrainingSample[]> {
  const byLoss = samples.filter((_, i) => !Number.isFinite(sampleLosses[i]));
  if (byLoss.length > 0) return byLoss;
  const byGradient: TrainingSample[] = [];
  for (const [i, sample] of samples.entries()) {
    const { gradients } = await model.gradients([sample], [numbers[i]!], weights);
    if (!Number.isFinite(globalNorm(gradients))) byGradient.push(sample);
  }
  return byGradient.length > 0 ? byGradient : samples;
}

function isFinitePass({ scalars, sampleLosses }: BatchGradients, norm: number): boolean {
  return Number.isFinite(norm) && [...sampleLosses, ...Object.values(scalars)].every(Number.isFinite);
}

/** Passes over the parts of a batch as one over all of it: scalars and norm as means weighted by samples. */
function together(passes: readonly Epoch[], parts: readonly (readonly number[])[]): Epoch {
  const total = parts.reduce((sum, { length }) => sum + length, 0);
  const scalars: Record<string, number> = {};
  const sampleLosses: number[] = [];
  const logProbs: Float32Array[] = [];
  let gradNorm = 0;
  passes.forEach((pass, at) => {
    const share = parts[at]!.length / total;
    gradNorm += share * pass.gradNorm;
    for (const [name, value] of Object.entries(pass.scalars)) scalars[name] = (scalars[name] ?? 0) + share * value;
    parts[at]!.forEach((index, i) => {
      sampleLosses[index] = share * pass.sampleLosses[i]!;
      logProbs[index] = pass.logProbs[i]!;
    });
  });
  return { scalars, sampleLosses, logProbs, gradNorm };
}

const dataOf = (weights: TrainedWeights): NamedArrays => new Map([...weights].map(([name, { data }]) => [name, data]));
