import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Hyperparameters } from '../core/hyperparameters';
import type { Peer } from './peer';
import { productsOf, type Size } from './sizes';
import type { StepAnswer, StepOrder } from './step-process';
import { ADAPTER_ALPHA, adapterRecipes, baseRecipes, samplesOf } from './workload';

const PEER_SCRIPT = join(__dirname, '../../../../tools/reference/bench_trainer.py');

/** One engine in a process of its own, which waits between the steps. */
export class EngineProcess {
  private constructor(
    private readonly child: ChildProcess,
    private readonly answers: AsyncIterator<string>,
  ) {}

  /** The trainer's own step, or the matrix products of one. */
  static async hindcast(order: StepOrder): Promise<EngineProcess> {
    return await EngineProcess.start(process.execPath, [join(__dirname, 'step-process.js')], order);
  }

  /** The same step in PyTorch. */
  static async torch({ python }: Peer, size: Size, hyper: Hyperparameters, threads: number): Promise<EngineProcess> {
    return await EngineProcess.start(python, [PEER_SCRIPT], {
      threads,
      config: size.config,
      base: baseRecipes(size),
      adapter: adapterRecipes(size),
      products: productsOf(size),
      scale: size.rank === null ? 1 : ADAPTER_ALPHA / size.rank,
      learningRate: hyper.learningRate,
      maxGradNorm: hyper.maxGradNorm,
      clip: hyper.loss.clip,
      samples: samplesOf(size).map((sample) => ({
        promptIds: [...sample.promptIds],
        responseIds: [...sample.responseIds],
        rolloutLogProbs: [...sample.rolloutLogProbs],
        teacherLogProbs: [...sample.teacherLogProbs!],
        reward: sample.reward,
      })),
    });
  }

  async step(): Promise<StepAnswer> {
    return (await this.ask('step')) as StepAnswer;
  }

  /** Milliseconds that the step's matrix products take by themselves, in a process that was ordered for them. */
  async matmulMs(): Promise<number> {
    return ((await this.ask('matmul')) as { ms: number }).ms;
  }

  /** Milliseconds that PyTorch takes for what no step can do without, see `Measured`. */
  async leastMs(): Promise<number> {
    return ((await this.ask('least')) as { ms: number }).ms;
  }

  async end(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const gone = once(this.child, 'exit');
    this.child.kill();
    await gone;
  }

  private static async start(command: string, args: readonly string[], order: object): Promise<EngineProcess> {
    const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] });
    const engine = new EngineProcess(child, createInterface({ input: child.stdout })[Symbol.asyncIterator]());
    await engine.ask(JSON.stringify(order));
    return engine;
  }

  private async ask(line: string): Promise<unknown> {
    this.child.stdin!.write(`${line}\n`);
    const answer = await this.answers.next();
    if (answer.done) throw new Error(`${this.child.spawnfile} ended before it answered`);
    return JSON.parse(answer.value);
  }
}
