import type { HostTensor, LlamaConfig } from '@hindcast/language-model';
import { accumulate, type NamedArrays } from './adam';
import { lossTensors, responseParts, tokenTensors, type ResponseNumbers } from './batch-tensors';
import type { Computation, ComputeBackend, HostTensors } from './compute-backend';
import type { LossSettings } from './loss/combined-loss';
import { microBatches } from './micro-batches';
import { GRADIENT_PREFIX, logProbsFunction, lossAndGradientsFunction, type PolicyShape } from './policy-functions';
import { inputLength, type TrainingSample } from './training-sample';

export type Tokens = Pick<TrainingSample, 'promptIds' | 'responseIds'>;
/** LoRA matrices by PEFT name. */
export type Adapter = ReadonlyMap<string, HostTensor & { readonly dtype: 'float32' }>;

export interface BatchGradients {
  /** Summed over the batch, whose token weights sum to 1: a mean. By PEFT name. */
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
  readonly loraNames: readonly string[];
  readonly loraScale: number;
  readonly loss: LossSettings;
  readonly tokenBudget: number;
}

/** The policy on a compute backend: log-probs of given tokens, and loss with gradients, over batches of any size. */
export class PolicyModel {
  private readonly withLora: Computation;
  private readonly reference: Computation;
  private readonly trained: Computation;
  private readonly surrogateOnly: Computation;

  constructor(private readonly options: PolicyModelOptions) {
    const { backend, config, baseWeights, loraNames, loraScale, loss } = options;
    const shape: PolicyShape = { config, baseNames: [...baseWeights.keys()], loraNames, loraScale };
    const fixed = Object.fromEntries(baseWeights);
    const bare: LossSettings = { ...loss, klCoef: 0, entropyCoef: 0 };
    this.withLora = backend.compile('log-probs', logProbsFunction(shape, true), fixed);
    this.reference = backend.compile('reference-log-probs', logProbsFunction(shape, false), fixed);
    this.trained = backend.compile('loss', lossAndGradientsFunction(shape, loss), fixed);
    this.surrogateOnly = backend.compile('surrogate-loss', lossAndGradientsFunction(shape, bare), fixed);
  }

  /** log π of each response under `adapter`, or under the base model for `null`; one `[R]` array per sample, nats. */
  async responseLogProbs(samples: readonly Tokens[], adapter: Adapter | null): Promise<Float32Array[]> {
    const results: Float32Array[] = [];
    for (const batch of microBatches(samples.map(inputLength), this.options.tokenBudget)) {
      const inputs = tokenTensors(samples, batch);
      const { logProbs } = await (adapter
        ? this.withLora({ ...inputs, ...Object.fromEntries(adapter) })
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
    adapter: Adapter,
    regularised = true,
  ): Promise<BatchGradients> {
    const compute = regularised ? this.trained : this.surrogateOnly;
    const gradients = new Map<string, Float32Array>();
    const scalars: Record<string, number> = {};
    const sampleLosses: number[] = [];
    const logProbs: Float32Array[] = [];
    for (const batch of microBatches(samples.map(inputLength), this.options.tokenBudget)) {
      const outputs = await compute({ ...lossTensors(samples, numbers, batch), ...Object.fromEntries(adapter) });
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

function gradientsOf(outputs: HostTensors): NamedArrays {
  return new Map(
    Object.entries(outputs)
      .filter(([name]) => name.startsWith(GRADIENT_PREFIX))
      .map(([name, { data }]) => [name.slice(GRADIENT_PREFIX.length), data as Float32Array]),
  );
}
