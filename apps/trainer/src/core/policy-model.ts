import { initLora, weightShapes, type HostTensor, type LlamaConfig } from '@hindcast/language-model';
import { addUp, type NamedArrays } from './adam';
import { lossTensors, responseParts, tokenTensors, type ResponseNumbers } from './batch-tensors';
import type { Computation, ComputeBackend, HostTensors } from './compute-backend';
import { dropoutTensors } from './dropout-keys';
import type { LossSettings } from './loss/combined-loss';
import { microBatches, type MicroBatch } from './micro-batches';
import {
  GRADIENT_PREFIX,
  logProbsFunction,
  lossAndGradientsFunction,
  referenceLogProbsFunction,
  ROW_PREFIX,
  type PolicyShape,
} from './policy-functions';
import { inputLength, type TrainingSample } from './training-sample';
import { loraScale, type TrainedWeights, type Tuning } from './tuning';

export type Tokens = Pick<TrainingSample, 'promptIds' | 'responseIds'>;

export interface BatchGradients {
  /** Summed over the batch, whose token weights sum to 1: a mean. By name of the trained weight. */
  readonly gradients: NamedArrays;
  /** The parts of `LossRows`, summed over the batch in float64. */
  readonly scalars: Readonly<Record<string, number>>;
  /** Loss of each sample, weighted as in the batch. */
  readonly sampleLosses: readonly number[];
  /** log π_θ of each sample's response, `[R]` nats, under the weights before the step. */
  readonly logProbs: readonly Float32Array[];
}

export interface PolicyModelOptions {
  readonly backend: ComputeBackend;
  readonly config: LlamaConfig;
  readonly baseWeights: ReadonlyMap<string, HostTensor>;
  readonly tuning: Tuning;
  readonly loss: LossSettings;
  readonly tokenBudget: number;
  /** Make activations again in the backward pass. Only useful where operations run one by one. */
  readonly recompute?: boolean;
}

export interface PassOptions {
  /** False leaves KL, entropy and top-K out. */
  readonly regularised?: boolean;
  /** Seed of the dropout masks; `null` for none, whatever the tuning says. */
  readonly dropoutSeed?: number | null;
  /** Arrays that the gradients may be written to, by name. */
  readonly into?: NamedArrays;
}

/** The policy on a compute backend: log-probs of given tokens, and loss with gradients, over batches of any size. */
export class PolicyModel {
  private readonly policy: Computation;
  private readonly reference: Computation;
  private readonly trained: Computation;
  private readonly surrogateOnly: Computation;

  constructor(private readonly options: PolicyModelOptions) {
    const { backend, config, baseWeights, tuning, loss } = options;
    const shape = policyShape(config, tuning, options.recompute);
    const base = Object.fromEntries(baseWeights);
    const frozen = Object.fromEntries(shape.frozenNames.map((name) => [name, base[name]!]));
    const bare: LossSettings = {
      ...loss,
      ...{ klCoef: 0, entropyCoef: 0, topKCoef: 0, measuresKl: false, measuresEntropy: false },
    };
    this.policy = backend.compile('log-probs', logProbsFunction(shape), frozen);
    this.reference = backend.compile('reference-log-probs', referenceLogProbsFunction(config), base);
    this.trained = backend.compile('loss', lossAndGradientsFunction(shape, loss), frozen);
    this.surrogateOnly = backend.compile('surrogate-loss', lossAndGradientsFunction(shape, bare), frozen);
  }

  /** log π of each response under `weights`, or under the base model for `null`; one `[R]` array per sample, nats. */
  async responseLogProbs(samples: readonly Tokens[], weights: TrainedWeights | null): Promise<Float32Array[]> {
    const results: Float32Array[] = [];
    for (const batch of microBatches(samples.map(inputLength), this.options.tokenBudget)) {
      const inputs = tokenTensors(samples, batch);
      const { logProbs } = await (weights
        ? this.policy({ ...inputs, ...Object.fromEntries(weights) })
        : this.reference(inputs));
      responseParts(samples, batch, logProbs!).forEach((part, row) => (results[batch.samples[row]!] = part));
    }
    return results;
  }

  /**
   * Loss and gradients of a batch, micro-batch by micro-batch: the sum over them is that of the whole batch, whose token weights know it.
   * Nothing is checked for being finite here.
   */
  async gradients(
    samples: readonly Tokens[],
    numbers: readonly ResponseNumbers[],
    weights: TrainedWeights,
    { regularised = true, dropoutSeed = null, into = new Map() }: PassOptions = {},
  ): Promise<BatchGradients> {
    const compute = regularised ? this.trained : this.surrogateOnly;
    let gradients: Map<string, Float32Array> | null = null;
    const scalars: Record<string, number> = {};
    const sampleLosses: number[] = [];
    const logProbs: Float32Array[] = [];
    for (const batch of microBatches(samples.map(inputLength), this.options.tokenBudget)) {
      const inputs = {
        ...lossTensors(samples, numbers, batch),
        ...this.dropout(dropoutSeed, batch),
        ...Object.fromEntries(weights),
      };
      // Of several passes the first alone: the others are added to it.
      const outputs = await compute(inputs, gradients === null ? gradientOutputs(into) : {});
      gradients = addUp(gradients, gradientsOf(outputs));
      for (const [name, { data }] of Object.entries(outputs)) {
        if (!name.startsWith(ROW_PREFIX)) continue;
        const part = name.slice(ROW_PREFIX.length);
        scalars[part] = (data as Float32Array).reduce((sum, value) => sum + value, scalars[part] ?? 0);
      }
      responseParts(samples, batch, outputs['logProbs']!).forEach((part, row) => {
        logProbs[batch.samples[row]!] = part;
        sampleLosses[batch.samples[row]!] = outputs[`${ROW_PREFIX}loss`]!.data[row]!;
      });
    }
    return { gradients: gradients ?? new Map(), scalars, sampleLosses, logProbs };
  }

  private dropout(seed: number | null, batch: MicroBatch): HostTensors {
    const { config, tuning } = this.options;
    if (seed === null || tuning.kind !== 'lora' || tuning.dropout === 0) return {};
    return dropoutTensors(seed, config, tuning, batch);
  }
}

/** What is frozen and what is trained of a model. */
export function policyShape(config: LlamaConfig, tuning: Tuning, recompute = false): PolicyShape {
  const baseNames = [...weightShapes(config).keys()];
  if (tuning.kind === 'full') {
    return { config, frozenNames: [], trainedNames: baseNames, loraScale: null, dropout: 0, recompute };
  }
  const { rank, alpha, targets } = tuning;
  const trainedNames = [...initLora(config, { rank, alpha, targetModules: targets, seed: 0 }).keys()];
  const { dropout } = tuning;
  return { config, frozenNames: baseNames, trainedNames, loraScale: loraScale(tuning), dropout, recompute };
}

const gradientOutputs = (arrays: NamedArrays): Record<string, Float32Array> =>
  Object.fromEntries([...arrays].map(([name, array]) => [`${GRADIENT_PREFIX}${name}`, array]));

function gradientsOf(outputs: HostTensors): Map<string, Float32Array> {
  return new Map(
    Object.entries(outputs)
      .filter(([name]) => name.startsWith(GRADIENT_PREFIX))
      .map(([name, { data }]) => [name.slice(GRADIENT_PREFIX.length), data as Float32Array]),
  );
}
