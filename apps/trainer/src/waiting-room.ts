import type { WaitingSample } from './core/batch-plan';
import type { Refusal, TrainingSample } from './core/training-sample';

export type Outcome = { readonly kind: 'trained' } | { readonly kind: 'refused'; readonly refusal: Refusal };

/** As many as there may be messages under way at a time. */
const REMEMBERED_REFUSALS = 4096;

interface Entry extends WaitingSample {
  readonly outcome: Promise<Outcome>;
  readonly settle: (outcome: Outcome) => void;
}

/**
 * Samples whose messages are held: delivered, not acknowledged. A message is acknowledged when its sample's outcome is on disk or
 * on the bus, so what waits here needs no store of its own: after a crash the broker delivers it again.
 */
export class WaitingRoom {
  private readonly entries = new Map<string, Entry>();
  private readonly refusals = new Map<string, Refusal>();
  private readonly present = new Set<number>();
  private wake: () => void = () => undefined;

  get size(): number {
    return this.entries.size;
  }

  all(): WaitingSample[] {
    return [...this.entries.values()];
  }

  /** Stream sequences of the messages whose handlers run: those that wait here, and those that were just settled. */
  held(): Iterable<number> {
    return this.present;
  }

  /** Counts a message as held while it is handled. */
  async whileHeld<T>(streamSequence: number, handle: () => Promise<T>): Promise<T> {
    this.present.add(streamSequence);
    try {
      return await handle();
    } finally {
      this.present.delete(streamSequence);
    }
  }

  /** Waits with the sample for its outcome. A second delivery of the same turn waits with the first. */
  async outcomeOf(sample: TrainingSample, now: number): Promise<Outcome> {
    const refusal = this.refusals.get(sample.turnId);
    if (refusal) return { kind: 'refused', refusal };
    let entry = this.entries.get(sample.turnId);
    if (!entry) {
      const { promise, resolve } = deferred<Outcome>();
      entry = { sample, arrivedAt: now, outcome: promise, settle: resolve };
      this.entries.set(sample.turnId, entry);
      this.wake();
    }
    return await entry.outcome;
  }

  trained(turnIds: readonly string[]): void {
    for (const turnId of turnIds) this.settle(turnId, { kind: 'trained' });
  }

  /** The refusal is remembered for a while: its message is handled again when it could not be announced. */
  refused(turnId: string, refusal: Refusal): void {
    this.refusals.set(turnId, refusal);
    const [oldest] = this.refusals.keys();
    if (this.refusals.size > REMEMBERED_REFUSALS) this.refusals.delete(oldest!);
    this.settle(turnId, { kind: 'refused', refusal });
  }

  /** Resolves at the next arrival, or after `timeoutMs`, or when the signal is aborted. */
  async arrival(timeoutMs: number, signal: AbortSignal): Promise<void> {
    const { promise, resolve: settle } = deferred<void>();
    const resolve = (): void => settle();
    const timer = setTimeout(resolve, timeoutMs);
    this.wake = resolve;
    signal.addEventListener('abort', resolve);
    if (signal.aborted) resolve();
    await promise;
    signal.removeEventListener('abort', resolve);
    clearTimeout(timer);
  }

  private settle(turnId: string, outcome: Outcome): void {
    this.entries.get(turnId)?.settle(outcome);
    this.entries.delete(turnId);
  }
}

function deferred<T>(): { promise: Promise<T>; resolve: (value: T) => void } {
  let resolve!: (value: T) => void;
  const promise = new Promise<T>((fulfil) => (resolve = fulfil));
  return { promise, resolve };
}
