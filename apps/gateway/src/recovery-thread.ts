import { extname, join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { HindcastError } from '@hindcast/contracts';
import { refusal, type Refusal } from './core/refusal';
import type { RecoveredAnswer, RecoveryQuestion } from './recovery';

/** Questions that wait at a time; each holds a whole conversation. */
const MOST_WAITING = 64;
const ENDED = refusal('no-token-ids', 'the recovery thread ended');

type Texts = readonly (string | null)[];
type Result = RecoveredAnswer | Texts | Refusal;

type Message =
  { readonly ready: number } | { readonly broken: string } | { readonly number: number; readonly result: Result };

/**
 * Recovers ids in a thread of its own: encoding a prompt of 200 kB takes up to a second, loading a vocabulary of 150,000 tokens
 * some, and no stream may stand still for it. Such a vocabulary with its encoder takes about 70 MB of heap, 240 MB while it loads.
 */
export class RecoveryThread {
  private readonly waiting = new Map<number, (result: Result) => void>();
  private asked = 0;
  private hasEnded = false;

  private constructor(private readonly worker: Worker) {}

  /**
   * Resolves when the tokenizer is loaded. `config-invalid` when the folder holds none that can be used.
   *
   * @param onEnd called when a thread that was loaded ends, stopped or not
   */
  static start(
    dir: string,
    onEnd: (error: Error | null) => void,
    script = join(__dirname, `recovery-worker${extname(__filename)}`),
  ): Promise<{ thread: RecoveryThread; tokens: number }> {
    const worker = new Worker(script, { workerData: { dir } });
    const thread = new RecoveryThread(worker);
    return new Promise((resolve, reject) => {
      let failure: Error | null = null;
      worker.on('message', (message: Message) => {
        if ('ready' in message) {
          worker.unref();
          worker.on('exit', () => thread.end(failure, onEnd));
          resolve({ thread, tokens: message.ready });
        } else if ('broken' in message) {
          reject(new HindcastError('config-invalid', `POLICY_TOKENIZER_DIR: ${message.broken}`));
          void worker.terminate();
        } else thread.settle(message.number, message.result);
      });
      worker.on('error', (error: Error) => (failure = error));
      worker.on('exit', () => reject(failure ?? new Error('the recovery thread ended before it was ready')));
    });
  }

  /** Never rejects. */
  ask(question: RecoveryQuestion): Promise<RecoveredAnswer | Refusal> {
    return this.send({ question }) as Promise<RecoveredAnswer | Refusal>;
  }

  /** Text of each id, see `textOfBytes`; `null` for all where the thread cannot say. Never rejects. */
  async texts(ids: readonly number[]): Promise<Texts | null> {
    const result = await this.send({ ids });
    return Array.isArray(result) ? (result as Texts) : null;
  }

  private send(
    message: { readonly question: RecoveryQuestion } | { readonly ids: readonly number[] },
  ): Promise<Result> {
    if (this.hasEnded) return Promise.resolve(ENDED);
    if (this.waiting.size >= MOST_WAITING)
      return Promise.resolve(refusal('no-token-ids', `${MOST_WAITING} answers wait for their ids already`));
    const number = ++this.asked;
    return new Promise((resolve) => {
      this.waiting.set(number, resolve);
      this.worker.postMessage({ number, ...message });
    });
  }

  async stop(): Promise<void> {
    this.hasEnded = true;
    await this.worker.terminate();
  }

  private end(failure: Error | null, onEnd: (error: Error | null) => void): void {
    this.hasEnded = true;
    for (const number of this.waiting.keys()) this.settle(number, ENDED);
    onEnd(failure);
  }

  private settle(number: number, result: Result): void {
    this.waiting.get(number)?.(result);
    this.waiting.delete(number);
  }
}
