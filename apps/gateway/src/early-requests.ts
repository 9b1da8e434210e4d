import type { Operation } from './core/operation';
import { RetrySchedule } from './core/retry-schedule';
import type { Outcome } from './spool-drain';

type Continuing = Extract<Operation, { kind: 'continue' }>;

interface Waiting {
  readonly operation: Continuing;
  readonly at: number;
  readonly bytes: number;
}

/** Each is tried every half a minute in the end. */
const MOST_WAITING = 1_000;
/** Bytes of the texts of all. */
const MOST_BYTES = 32 * 1024 * 1024;

/**
 * Requests that continue an answer of which nobody knows yet: another gateway gave it, and has it on disk because NATS was slow or away
 * from there. They are tried again here in memory for as long as such an answer would stay open. Most continue what nobody will ever
 * have written down, so that the oldest make room where there are too many.
 */
export class EarlyRequests {
  private readonly waiting = new Map<string, Waiting>();
  private readonly retries = new RetrySchedule();
  private bytes = 0;
  private working: Promise<void> | null = null;

  constructor(
    private readonly perform: (operation: Continuing, at: number) => Promise<Outcome>,
    private readonly keptMs: number,
    private readonly now: () => number = Date.now,
  ) {}

  get size(): number {
    return this.waiting.size;
  }

  /**
   * It waits for the key of an answer alone: what its session asked since may by now look like the history that it edited.
   *
   * @param at when the request came, milliseconds since the epoch: it continues no answer that is younger
   */
  add(early: Continuing, at: number): void {
    if (this.waiting.has(early.id)) return;
    const continuations = early.continuations.map((continuation) => ({ ...continuation, edited: null }));
    const operation = { ...early, continuations };
    const bytes = Buffer.byteLength(JSON.stringify(operation));
    this.waiting.set(operation.id, { operation, at, bytes });
    this.bytes += bytes;
    this.retries.postpone(operation.id, this.now(), false);
    for (const oldest of this.waiting.keys()) {
      if (this.waiting.size <= MOST_WAITING && this.bytes <= MOST_BYTES) break;
      this.remove(oldest);
    }
  }

  /** Tries those whose time has come. Never rejects. */
  retry(): Promise<void> {
    const due = [...this.waiting.keys()].filter((id) => !this.retries.isWaiting(id, this.now()));
    return (this.working ??= this.tryAll(due).finally(() => (this.working = null)));
  }

  /** Tries those of one session now. Rejects where one could not be tried. */
  async retrySession(sessionId: string): Promise<void> {
    const own = [...this.waiting].filter(([, { operation }]) => operation.sessionId === sessionId);
    await Promise.all(own.map(([id]) => this.tryOne(id)));
  }

  /** Tries all once more where `isConnected`: this process ends. @returns those that are still early, for the next process */
  async leave(isConnected: boolean): Promise<Continuing[]> {
    await this.working;
    if (isConnected) await this.tryAll([...this.waiting.keys()]);
    const left = [...this.waiting.values()].map(({ operation, at }) => ({ ...operation, at }));
    for (const id of [...this.waiting.keys()]) this.remove(id);
    return left;
  }

  private async tryAll(ids: readonly string[]): Promise<void> {
    // What fails is tried again as well; NATS has been away before.
    await Promise.all(ids.map((id) => this.tryOne(id).catch(() => undefined)));
  }

  private async tryOne(id: string): Promise<void> {
    const waiting = this.waiting.get(id);
    if (!waiting) return;
    const { operation, at } = waiting;
    let isOver = this.now() - at >= this.keptMs;
    try {
      isOver = (await this.perform(operation, at)) === 'done' || isOver;
    } finally {
      if (isOver) this.remove(id);
      else if (this.waiting.has(id)) this.retries.postpone(id, this.now(), false);
    }
  }

  private remove(id: string): void {
    this.bytes -= this.waiting.get(id)?.bytes ?? 0;
    this.waiting.delete(id);
    this.retries.forget(id);
  }
}
