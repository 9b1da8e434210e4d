// The trainer's own step, in a process of its own: reads what to build from the first line of stdin, takes a step for every further
// one and answers with a line. `bench_trainer.py` speaks the same.
import { createInterface } from 'node:readline';
import { chooseBackend } from '../backends/choose-backend';
import { hyperparametersOf, readConfig } from '../config';
import { initialAdamState } from '../core/adam';
import { PolicyModel } from '../core/policy-model';
import { INITIAL_PROGRESS } from '../core/progress';
import { trainStep, type TrainingState } from '../core/train-step';
import { matmulTime } from './matmul-rate';
import { peakBytes } from '@hindcast/language-model/peak-memory';
import { productsOf, sizeOf, type Size, type SizeName } from './sizes';
import { ADAPTER_ALPHA, adapterRecipes, baseRecipes, samplesOf, tensorsOf } from './workload';

/** What a process is asked to build. */
export interface StepOrder {
  readonly size: SizeName;
  readonly layers?: number;
  readonly threads: number;
  /** Only to time the step's matrix products: no model is built. */
  readonly matmulOnly?: boolean;
}

/** A step that was taken. */
export interface StepAnswer {
  readonly ms: number;
  /** CPU time of all threads. */
  readonly cpuMs: number;
  readonly loss: number;
  /** Before clipping. */
  readonly gradNorm: number;
  /** Largest resident memory of the process so far. */
  readonly peakRssMb: number;
}

/** Everything but the batch that decides what a step does, for both engines. */
export function benchHyperparameters({ rank }: Size): ReturnType<typeof hyperparametersOf> {
  return hyperparametersOf(
    readConfig({
      LEARNING_RATE: '0.0001',
      TOKEN_BUDGET: '65536',
      MAX_GRAD_NORM: '1',
      ...(rank === null
        ? { TUNING: 'full' }
        : { TUNING: 'lora', LORA_RANK: String(rank), LORA_ALPHA: String(ADAPTER_ALPHA) }),
    }),
  );
}

async function main(): Promise<void> {
  const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
  const order = JSON.parse(String((await lines.next()).value)) as StepOrder;
  const size = sizeOf(order.size, order.layers);
  const step = order.matmulOnly
    ? () => matmulTime(productsOf(size), order.threads)
    : await stepper(size, order.threads).then((take) => () => timed(take));
  say({ ready: true });
  for (let line = await lines.next(); !line.done; line = await lines.next()) say(await step());
  process.exit(0);
}

export async function stepper(size: Size, threads: number): Promise<() => Promise<{ loss: number; gradNorm: number }>> {
  const hyper = benchHyperparameters(size);
  const { backend } = await chooseBackend('onnx', threads);
  const baseWeights = tensorsOf(baseRecipes(size));
  const model = new PolicyModel({
    backend,
    config: size.config,
    baseWeights,
    tuning: hyper.tuning,
    loss: hyper.loss,
    tokenBudget: hyper.tokenBudget,
  });
  const weights = size.rank === null ? baseWeights : tensorsOf(adapterRecipes(size));
  let state: TrainingState = {
    weights,
    optimizer: initialAdamState(new Map([...weights].map(([name, { data }]) => [name, data]))),
    progress: INITIAL_PROGRESS,
  };
  const samples = samplesOf(size);
  return async () => {
    const result = await trainStep(model, samples, state, hyper, 0);
    if (!result.ok) throw new Error('the step is not finite');
    state = result.state;
    return { loss: result.metrics['loss/total']!, gradNorm: result.metrics['grad_norm']! };
  };
}

async function timed(step: () => Promise<{ loss: number; gradNorm: number }>): Promise<StepAnswer> {
  const started = performance.now();
  const before = process.cpuUsage();
  const result = await step();
  const { user, system } = process.cpuUsage(before);
  return {
    ms: performance.now() - started,
    cpuMs: (user + system) / 1000,
    ...result,
    peakRssMb: peakBytes() / 1024 ** 2,
  };
}

function say(answer: object): void {
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}

if (require.main === module) void main();
