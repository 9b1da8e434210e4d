import { extname, join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { HindcastError } from '@hindcast/contracts';
import { refusal, type Refusal } from './core/refusal';
import type { RecoveredAnswer, RecoveryQuestion } from './recovery';

/** Questions that wait at a time; each holds a whole conversation. */
const MOST_WAITING = 64;

type Message =
  | { readonly ready: number }
  | { readonly broken: string }
  | { readonly number: number; readonly result: RecoveredAnswer | Refusal };

/**
 * Recovers ids in a thread of its own: encoding a prompt of 200 kB takes up to a second, loading a vocabulary of 150,000 tokens
 * two, and no stream may stand still for it. Such a vocabulary takes about 70 MB of heap there, 230 MB while it loads.
 */
export class RecoveryThread {
  private readonly waiting = new Map<number, (result: RecoveredAnswer | Refusal) => void>();
  private asked = 0;

  private constructor(private readonly worker: Worker) {}

  /** Resolves when the tokenizer is loaded. `config-invalid` when the folder holds none that can be used. */
  static start(dir: string, onEnd: (error: Error | null) => void): Promise<{ thread: RecoveryThread; tokens: number }> {
    const worker = new Worker(join(__dirname, `recovery-worker${extname(__filename)}`), { workerData: { dir } });
    const thread = new RecoveryThread(worker);
    return new Promise((resolve, reject) => {
      let failure: Error | null = null;
      worker.on('message', (message: Message) => {
        if ('ready' in message) {
          worker.unref();
          resolve({ thread, tokens: message.ready });
        } else if ('broken' in message) {
          reject(new HindcastError('config-invalid', `POLICY_TOKENIZER_DIR: ${message.broken}`));
          void worker.terminate();
        } else thread.settle(message.number, message.result);
      });
      worker.on('error', (error: Error) => (failure = error));
      worker.on('exit', () => {
        for (const number of thread.waiting.keys()) thread.settle(number, refusal('no-token-ids', 'recovery ended'));
        reject(failure ?? new Error('the recovery thread ended'));
        onEnd(failure);
      });
    });
  }

  /** Never rejects. */
  ask(question: RecoveryQuestion): Promise<RecoveredAnswer | Refusal> {
    if (this.waiting.size >= MOST_WAITING)
      return Promise.resolve(refusal('no-token-ids', `${MOST_WAITING} answers wait for their ids already`));
    const number = ++this.asked;
    return new Promise((resolve) => {
      this.waiting.set(number, resolve);
      this.worker.postMessage({ number, question });
    });
  }

  async stop(): Promise<void> {
    await this.worker.terminate();
  }

  private settle(number: number, result: RecoveredAnswer | Refusal): void {
    this.waiting.get(number)?.(result);
    this.waiting.delete(number);
  }
}
