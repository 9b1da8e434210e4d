import { initLora, weightShapes, type HostTensor, type LlamaConfig } from '@hindcast/language-model';
import { accumulate, type NamedArrays } from './adam';
import { lossTensors, responseParts, tokenTensors, type ResponseNumbers } from './batch-tensors';
import type { Computation, ComputeBackend, HostTensors } from './compute-backend';
import type { LossSettings } from './loss/combined-loss';
import { microBatches } from './micro-batches';
import {
  GRADIENT_PREFIX,
  logProbsFunction,
  lossAndGradientsFunction,
  referenceLogProbsFunction,
  type PolicyShape,
} from './policy-functions';
import { inputLength, type TrainingSample } from './training-sample';
import { loraScale, type TrainedWeights, type Tuning } from './tuning';

export type Tokens = Pick<TrainingSample, 'promptIds' | 'responseIds'>;

export interface BatchGradients {
  /** Summed over the batch, whose token weights sum to 1: a mean. By name of the trained weight. */
  readonly gradients: NamedArrays;
  /** loss, policyLoss, clipFraction, approxKl, and klRef and entropy where the loss has them. */
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
}

/** The policy on a compute backend: log-probs of given tokens, and loss with gradients, over batches of any size. */
export class PolicyModel {
  private readonly policy: Computation;
  private readonly reference: Computation;
  private readonly trained: Computation;
  private readonly surrogateOnly: Computation;

  constructor(private readonly options: PolicyModelOptions) {
    const { backend, config, baseWeights, tuning, loss } = options;
    const shape = policyShape(config, tuning);
    const base = Object.fromEntries(baseWeights);
    const frozen = Object.fromEntries(shape.frozenNames.map((name) => [name, base[name]!]));
    const bare: LossSettings = { ...loss, klCoef: 0, entropyCoef: 0 };
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
   * Loss and gradients of a batch, micro-batch by micro-batch. `regularised` false leaves KL and entropy out.
   * Nothing is checked for being finite here.
   */
  async gradients(
    samples: readonly Tokens[],
    numbers: readonly ResponseNumbers[],
    weights: TrainedWeights,
    regularised = true,
  ): Promise<BatchGradients> {
    const compute = regularised ? this.trained : this.surrogateOnly;
    const gradients = new Map<string, Float32Array>();
    const scalars: Record<string, number> = {};
    const sampleLosses: number[] = [];
    const logProbs: Float32Array[] = [];
    for (const batch of microBatches(samples.map(inputLength), this.options.tokenBudget)) {
      const outputs = await compute({ ...lossTensors(samples, numbers, batch), ...Object.fromEntries(weights) });
      accumulate(gradients, gradientsOf(outputs));
      for (const [name, { shape, data }] of Object.entries(outputs)) {
        if (shape.length === 0) scalars[name] = (scalars[name] ?? 0) + data[0]!;
      }
      responseParts(samples, batch, outputs['logProbs']!).forEach((part, row) => {
        logProbs[batch.samples[row]!] = part;
        sampleLosses[batch.samples[row]!] = outputs['rowLoss']!.data[row]!;
      });
    }
    return { gradients, scalars, sampleLosses, logProbs };
  }
}

/** What is frozen and what is trained of a model. */
export function policyShape(config: LlamaConfig, tuning: Tuning): PolicyShape {
  const baseNames = [...weightShapes(config).keys()];
  if (tuning.kind === 'full') return { config, frozenNames: [], trainedNames: baseNames, loraScale: null };
  const { rank, alpha, targets } = tuning;
  const trainedNames = [...initLora(config, { rank, alpha, targetModules: targets, seed: 0 }).keys()];
  return { config, frozenNames: baseNames, trainedNames, loraScale: loraScale(tuning) };
}

function gradientsOf(outputs: HostTensors): NamedArrays {
  return new Map(
    Object.entries(outputs)
      .filter(([name]) => name.startsWith(GRADIENT_PREFIX))
      .map(([name, { data }]) => [name.slice(GRADIENT_PREFIX.length), data as Float32Array]),
  );
}
