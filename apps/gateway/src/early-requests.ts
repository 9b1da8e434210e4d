import type { Operation } from './core/operation';
import { RetrySchedule } from './core/retry-schedule';
import type { Outcome } from './spool-drain';

type Continuing = Extract<Operation, { kind: 'continue' }>;

/** How long the answer that a request continues may take to be written down by the gateway that gave it. */
const EARLY_MS = 30_000;
/** Each holds the texts of its request. */
const MOST_WAITING = 500;

/**
 * Requests that continue an answer of which nobody knows yet: another gateway gave it, and has it on disk because NATS was slow or away
 * from there. They are tried again for a while, here in memory: most such requests continue what nobody will ever have written down.
 */
export class EarlyRequests {
  private readonly waiting = new Map<string, { readonly operation: Continuing; readonly at: number }>();
  private readonly retries = new RetrySchedule();
  private working: Promise<void> | null = null;

  constructor(
    private readonly perform: (operation: Continuing, at: number) => Promise<Outcome>,
    private readonly now: () => number = Date.now,
  ) {}

  get size(): number {
    return this.waiting.size;
  }

  /** @param at when the request came, milliseconds since the epoch: it continues no answer that is younger */
  add(operation: Continuing, at: number): void {
    if (this.waiting.size >= MOST_WAITING || this.waiting.has(operation.id)) return;
    this.waiting.set(operation.id, { operation, at });
    this.retries.postpone(operation.id, this.now(), false);
  }

  /** Tries those whose time has come. Never rejects. */
  retry(): Promise<void> {
    const due = [...this.waiting.keys()].filter((id) => !this.retries.isWaiting(id, this.now()));
    return (this.working ??= this.tryAll(due).finally(() => (this.working = null)));
  }

  /** Tries all once more: this process ends. */
  async lastCall(): Promise<void> {
    await this.working;
    await this.tryAll([...this.waiting.keys()]);
    this.waiting.clear();
  }

  private async tryAll(ids: readonly string[]): Promise<void> {
    await Promise.all(ids.map((id) => this.tryOne(id)));
  }

  private async tryOne(id: string): Promise<void> {
    const { operation, at } = this.waiting.get(id)!;
    // What fails is tried again as well; NATS has been away before.
    const outcome = await this.perform(operation, at).catch((): Outcome => 'early');
    this.retries.postpone(id, this.now(), false);
    if (outcome === 'early' && this.now() - at < EARLY_MS) return;
    this.waiting.delete(id);
    this.retries.forget(id);
  }
}
