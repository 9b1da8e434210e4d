import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { ShardStep } from './shard';

/** What a worker thread is started with. Both buffers are shared: the parameters for reading, its gradient for writing. */
export interface WorkerStart {
  /** Model directory with config.json and the tokenizer. */
  readonly dir: string;
  /** Name of this worker's stream of documents. */
  readonly stream: string;
  /** Tokens of this worker before hints come in all their wordings. */
  readonly earlyTokens: number;
  /** Batches that were already trained on. */
  readonly skip: number;
  readonly parameters: SharedArrayBuffer;
  readonly gradient: SharedArrayBuffer;
}

/** The result of one step of all workers together. */
export interface GlobalStep extends ShardStep {
  /** Mean of the workers' gradients; overwritten by the next step. */
  readonly gradient: Float32Array;
}

/**
 * Data-parallel training on several threads. Each holds one compiled step with one onnxruntime thread: at this size two of
 * them do more than one step on two threads.
 */
export class Workers {
  /** What the workers read: change it between steps only. */
  readonly parameters: Float32Array;
  private readonly threads: readonly { readonly worker: Worker; readonly gradient: Float32Array }[];
  private readonly mean: Float32Array;

  constructor(options: {
    dir: string;
    seed: number;
    count: number;
    earlyTokens: number;
    skip: number;
    parameterCount: number;
  }) {
    const bytes = options.parameterCount * Float32Array.BYTES_PER_ELEMENT;
    const parameters = new SharedArrayBuffer(bytes);
    this.parameters = new Float32Array(parameters);
    this.mean = new Float32Array(options.parameterCount);
    this.threads = Array.from({ length: options.count }, (_, index) => {
      const gradient = new SharedArrayBuffer(bytes);
      const stream = `${options.seed}/documents/${index}`;
      const earlyTokens = options.earlyTokens / options.count;
      const workerData: WorkerStart = {
        dir: options.dir,
        stream,
        earlyTokens,
        skip: options.skip,
        parameters,
        gradient,
      };
      return {
        worker: new Worker(join(__dirname, 'worker-thread.js'), { workerData }),
        gradient: new Float32Array(gradient),
      };
    });
  }

  /** One batch on each worker. Rejects when one of them fails. */
  async step(): Promise<GlobalStep> {
    const steps = await Promise.all(this.threads.map(({ worker }) => ask(worker)));
    const share = 1 / this.threads.length;
    this.mean.fill(0);
    for (const { gradient } of this.threads) {
      for (let i = 0; i < this.mean.length; i += 1)
        this.mean[i] = (this.mean[i] as number) + share * (gradient[i] as number);
    }
    return {
      loss: steps.reduce((sum, { loss }) => sum + share * loss, 0),
      tokens: steps.reduce((sum, { tokens }) => sum + tokens, 0),
      gradient: this.mean,
    };
  }

  async close(): Promise<void> {
    await Promise.all(this.threads.map(({ worker }) => worker.terminate()));
  }
}

function ask(worker: Worker): Promise<ShardStep> {
  return new Promise((resolve, reject) => {
    const settle = (act: () => void): void => {
      worker.off('message', onMessage).off('error', onError).off('exit', onExit);
      act();
    };
    const onMessage = (step: ShardStep): void => settle(() => resolve(step));
    const onError = (error: unknown): void => settle(() => reject(error));
    const onExit = (code: number): void => settle(() => reject(new Error(`a training thread ended with code ${code}`)));
    worker.on('message', onMessage).on('error', onError).on('exit', onExit);
    worker.postMessage('step');
  });
}
