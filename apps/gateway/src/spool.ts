import { mkdir, open, readFile, readdir, rename, rm, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import {
  withoutCapture,
  decodeOperation,
  encodeOperation,
  isClosing,
  touchedBy,
  type DropReason,
  type Operation,
} from './core/operation';
import { SpoolIndex, type SpoolEntry } from './core/spool-index';

const SUFFIX = '.operation';
/** A name begins with the time at which it was given. */
const TIME_DIGITS = 15;
const timeOf = (name: string): number => Number(name.slice(0, TIME_DIGITS));

export interface SpooledOperation {
  readonly name: string;
  /** When it was written down, milliseconds since the epoch. */
  readonly at: number;
  readonly operation: Operation;
  readonly capture: Uint8Array | null;
}

export interface SpoolOptions {
  readonly folder: string;
  /** Bytes on disk that the waiting operations may take; the oldest make room for new ones. */
  readonly maxBytes: number;
  /** What was given up, and why. */
  readonly onDropped: (operation: Operation, reason: DropReason) => void;
}

/**
 * Operations on disk that wait for NATS, one file each, read back in the order in which they were written. An operation counts
 * as stored once its file and its folder are synced. In a full spool the oldest are dropped; of an open turn its closing stays, so
 * that the ledger learns what became of it.
 */
export class Spool {
  private readonly folder: string;
  private sequence = 0;
  private lastTime = 0;
  private ready: Promise<void> | null = null;
  private readonly index: SpoolIndex;

  constructor(private readonly options: SpoolOptions) {
    this.folder = resolve(options.folder);
    this.index = new SpoolIndex(options.maxBytes);
  }

  /** Operations that wait, as far as this process knows. */
  get size(): number {
    return this.index.size;
  }
  /** Bytes on disk that they take. */
  get bytes(): number {
    return this.index.bytes;
  }

  /** Whether a waiting operation touches the same: this one must then wait behind it. */
  holdsBack(operation: Operation): boolean {
    return this.index.touchesAny(touchedBy(operation));
  }

  /** Finds what an earlier process left. @throws when the folder cannot be made or read. */
  prepare(): Promise<void> {
    this.ready ??= this.findLeft().catch((error: unknown) => {
      this.ready = null;
      throw error;
    });
    return this.ready;
  }

  private async findLeft(): Promise<void> {
    await mkdir(this.folder, { recursive: true });
    for (const name of await readdir(this.folder)) {
      if (name.endsWith(SUFFIX)) {
        const found = await this.read(name);
        if (!found) continue;
        const { size } = await stat(join(this.folder, name));
        this.index.add(name, entryOf(found.operation, size));
      } else if (name.endsWith('.part')) await rm(join(this.folder, name), { force: true });
    }
  }

  /** @throws when the operation is not safely on disk. */
  async append(operation: Operation, capture: Uint8Array | null): Promise<string> {
    const bytes = encodeOperation(operation, capture);
    if (bytes.length > this.options.maxBytes)
      throw new RangeError(`${bytes.length} bytes do not fit into a spool of ${this.options.maxBytes}`);
    // The name is taken before the first wait: names are in the order of the calls.
    this.lastTime = Math.max(this.lastTime, Date.now());
    const order = `${String(this.lastTime).padStart(TIME_DIGITS, '0')}-${String(this.sequence++).padStart(9, '0')}-${process.pid}`;
    const name = `${order}${SUFFIX}`;
    this.index.add(name, entryOf(operation, bytes.length));
    this.index.hold(name);
    try {
      await this.prepare();
      await this.makeRoom();
      await this.write(name, bytes);
      return name;
    } catch (error) {
      this.index.delete(name);
      await rm(this.partOf(name), { force: true }).catch(() => undefined);
      throw error;
    } finally {
      this.index.release(name);
    }
  }

  /**
   * The oldest operations in order, up to `limit`; they are not dropped until `release`. One that is postponed or still being
   * written is left out, with all after it that touch the same.
   *
   * @throws when the folder cannot be read
   */
  async oldest(limit: number, postponed?: (name: string) => boolean): Promise<SpooledOperation[]> {
    const names = this.index.oldest(limit, postponed);
    for (const name of names) this.index.hold(name);
    const found: SpooledOperation[] = [];
    try {
      for (const name of names) {
        const spooled = await this.read(name);
        if (spooled) found.push(spooled);
        else this.forget(name);
      }
      return found;
    } catch (error) {
      for (const name of names) this.index.release(name);
      throw error;
    }
  }

  /** The capture of a turn that waits here, encoded; `null` where none does, or where it is still being written. */
  async capture(turnId: string): Promise<Uint8Array | null> {
    const name = this.index.carrierOf(turnId);
    return name === null ? null : ((await this.read(name))?.capture ?? null);
  }

  /** These are no longer worked on. */
  release(batch: readonly SpooledOperation[]): void {
    for (const { name } of batch) this.index.release(name);
  }

  async remove(name: string): Promise<void> {
    await rm(join(this.folder, name), { force: true });
    this.index.delete(name);
  }

  /** Leaves of an operation in work what the ledger must know. */
  giveUp(name: string, reason: DropReason): Promise<void> {
    return this.drop(name, reason);
  }

  private forget(name: string): void {
    this.index.release(name);
    this.index.delete(name);
  }

  private async makeRoom(): Promise<void> {
    for (;;) {
      const name = this.index.toDrop();
      if (name === null) return;
      this.index.hold(name);
      try {
        await this.drop(name, 'full');
      } finally {
        this.index.release(name);
      }
    }
  }

  private async drop(name: string, reason: DropReason): Promise<void> {
    const spooled = await this.read(name);
    const closing = spooled && withoutCapture(spooled.operation, reason);
    if (closing) {
      const bytes = encodeOperation(closing, null);
      await this.write(name, bytes);
      this.index.add(name, entryOf(closing, bytes.length));
    } else await this.remove(name);
    if (spooled) this.options.onDropped(spooled.operation, reason);
  }

  /** `null` for a file that another gateway on the same folder has done, or that is no operation. */
  private async read(name: string): Promise<SpooledOperation | null> {
    const path = join(this.folder, name);
    try {
      return { name, at: timeOf(name), ...decodeOperation(await readFile(path)) };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
      if (!(error instanceof RangeError) && !(error instanceof SyntaxError)) throw error;
      // Kept for a person to look at, out of the way of the others.
      await rename(path, `${path}.unreadable`);
      return null;
    }
  }

  private async write(name: string, bytes: Uint8Array): Promise<void> {
    const part = this.partOf(name);
    const file = await open(part, 'w', 0o600);
    try {
      await file.writeFile(bytes);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(part, join(this.folder, name));
    await this.syncFolder();
  }

  private partOf(name: string): string {
    return `${join(this.folder, name)}.part`;
  }

  private async syncFolder(): Promise<void> {
    const folder = await open(this.folder, 'r');
    try {
      await folder.sync();
    } finally {
      await folder.close();
    }
  }
}

const entryOf = (operation: Operation, bytes: number): SpoolEntry => ({
  touched: touchedBy(operation),
  bytes,
  isClosing: isClosing(operation),
  captureOf: operation.kind === 'open' ? operation.turn.turnId : null,
});
