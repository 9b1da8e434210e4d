import { Inject, Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { ContractViolation, decodeCapture, type Capture } from '@hindcast/contracts';
import { CONFIG, Log, Metrics, Nats } from '@hindcast/platform';
import type { GatewayConfig } from './config';
import { DROP_REASONS, OPERATION_KINDS, type Operation } from './core/operation';
import { KvAccess } from './kv-access';
import { SessionMemory } from './session-memory';
import { Spool, type SpooledOperation } from './spool';
import { SpoolDrain, type Outcome } from './spool-drain';
import { TurnBook } from './turn-book';
import { TurnOperations, type Withdrawal } from './turn-operations';

/** How long NATS may take to confirm, before the spool is used instead. An answer's end is held meanwhile. */
const HELD_BUDGET_MS = 200;
/** The same for what no client waits for. */
const BUDGET_MS = 3_000;
/** How long the end of the process waits for NATS to take what is in the spool: the disk may end with the process. */
const FLUSH_MS = 5_000;
const DRAIN_INTERVAL_MS = 250;

/**
 * Every operation of this gateway goes through here: straight to NATS, or, while NATS is away, to the spool and from there in
 * order. An operation that touches what a waiting one touches queues behind it.
 */
@Injectable()
export class TurnJournal implements OnApplicationBootstrap, OnApplicationShutdown {
  readonly spool: Spool;
  private readonly drain: SpoolDrain;
  private readonly refused;
  /** Encoded captures that are being written down, by turn id. */
  private readonly inHand = new Map<string, Uint8Array>();
  private timer: NodeJS.Timeout | null = null;

  constructor(
    @Inject(CONFIG) config: GatewayConfig,
    private readonly book: TurnBook,
    private readonly operations: TurnOperations,
    private readonly memory: SessionMemory,
    private readonly access: KvAccess,
    private readonly nats: Nats,
    private readonly log: Log,
    metrics: Metrics,
  ) {
    this.refused = metrics.counter(
      'operations_refused_total',
      'Operations that NATS can never take, as where a value is too large',
      ['kind'],
    );
    const dropped = metrics.counter(
      'spool_dropped_total',
      'Operations given up: the spool was full, or NATS can never take them',
      ['kind', 'reason'],
    );
    // Known beforehand, so that the first of a kind already is an increase.
    for (const kind of OPERATION_KINDS) for (const reason of DROP_REASONS) dropped.inc({ kind, reason }, 0);
    this.spool = new Spool({
      folder: config.SPOOL_DIR,
      maxBytes: config.SPOOL_MAX_BYTES,
      onDropped: ({ kind }, reason) => {
        dropped.inc({ kind, reason });
        this.log.warn('spool.dropped', { kind, reason });
      },
    });
    this.drain = new SpoolDrain({
      spool: this.spool,
      perform: (spooled, isRepeated) => this.perform(spooled, isRepeated),
      onEarly: ({ operation, at }) => this.keepEarly(operation, at),
      isConnected: () => this.nats.connected,
      log,
    });
    metrics.gauge('spool_bytes', 'Bytes on disk of the operations that wait for NATS', [], (gauge) =>
      gauge.set(this.spool.bytes),
    );
    metrics.gauge('spool_operations', 'Operations that wait on disk for NATS', [], (gauge) =>
      gauge.set(this.spool.size),
    );
  }

  async onApplicationBootstrap(): Promise<void> {
    await this.spool.prepare().catch((error: unknown) => this.log.error('spool.unusable', { error }));
    // What the first request would otherwise wait for.
    void this.nats
      .whenConnected()
      .then(() => Promise.all([this.book.prepare(), this.memory.prepare()]))
      .catch(() => undefined);
    this.timer = setInterval(() => {
      void this.drain.drain();
      if (this.nats.connected) void this.operations.early.retry();
    }, DRAIN_INTERVAL_MS);
    this.timer.unref();
  }

  /** Comes after the last answer, which was still written down. */
  async onApplicationShutdown(): Promise<void> {
    if (this.timer) clearInterval(this.timer);
    await this.drain.flush(FLUSH_MS);
    const early = await this.operations.early.leave(this.nats.connected);
    await Promise.all(early.map((operation) => this.spool.append(operation, null))).catch((error: unknown) =>
      this.log.error('turn.continuation-lost', { error }),
    );
    await this.book.settle();
  }

  /**
   * @param isHeld a client waits for it
   * @throws ContractViolation when the operation can never be done; any other error when it could be written down nowhere
   */
  async record(operation: Operation, capture: Uint8Array | null = null, isHeld = false): Promise<'nats' | 'spool'> {
    if (operation.kind !== 'open' || !capture) return this.writeDown(operation, capture, isHeld);
    const { turnId } = operation.turn;
    this.inHand.set(turnId, capture);
    try {
      return await this.writeDown(operation, capture, isHeld);
    } finally {
      this.inHand.delete(turnId);
    }
  }

  /** The capture of a turn that is not in NATS yet, as far as this gateway has it; `null` for every other. */
  async capture(turnId: string): Promise<Capture | null> {
    const bytes = this.inHand.get(turnId) ?? (await this.spool.capture(turnId));
    return bytes && decodeCapture(bytes);
  }

  private async writeDown(
    operation: Operation,
    capture: Uint8Array | null,
    isHeld: boolean,
  ): Promise<'nats' | 'spool'> {
    if (this.nats.connected && !this.spool.holdsBack(operation)) {
      const withdrawal: Withdrawal = { isWithdrawn: false };
      try {
        const at = Date.now();
        const doing = this.operations.perform(operation, capture, at, withdrawal);
        const outcome = await within(this.access.whileConnected(doing), isHeld ? HELD_BUDGET_MS : BUDGET_MS);
        if (outcome === 'early') this.keepEarly(operation, at);
        return 'nats';
      } catch (error) {
        withdrawal.isWithdrawn = true;
        if (error instanceof ContractViolation) {
          this.refused.inc({ kind: operation.kind });
          throw error;
        }
        this.log.warn('turn.spooled', { kind: operation.kind, turnId: turnIdOf(operation), error });
      }
    }
    await this.spool.append(operation, capture);
    return 'spool';
  }

  /** An answer that this gateway gave is written down in order; of another's it may be too early to know. */
  private keepEarly(operation: Operation, at: number): void {
    if (operation.kind === 'continue' && !operation.continuations[0]?.isGiven)
      this.operations.early.add(operation, operation.at ?? at);
  }

  private async perform({ operation, capture, at }: SpooledOperation, isRepeated: boolean): Promise<Outcome> {
    const withdrawn: Withdrawal = { isWithdrawn: false };
    const repeated = { withdrawn, at: isRepeated ? at : null };
    try {
      return await this.access.whileConnected(this.operations.performAgain(operation, capture, Date.now(), repeated));
    } catch (error) {
      withdrawn.isWithdrawn = true;
      throw error;
    }
  }
}

const turnIdOf = (operation: Operation): string | null =>
  operation.kind === 'open' ? operation.turn.turnId : operation.kind === 'announce' ? operation.turnId : null;

/** Rejects after `ms`, unless the answer has come by then and only waits to be read, as in a process that is busy. */
function within<T>(work: Promise<T>, ms: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const expire = (): void => reject(new Error(`not confirmed in ${ms} ms`));
    const timer = setTimeout(() => setImmediate(() => setImmediate(expire)), ms);
    work.then(
      (result) => {
        clearTimeout(timer);
        resolve(result);
      },
      (error: unknown) => {
        clearTimeout(timer);
        reject(error as Error);
      },
    );
  });
}
