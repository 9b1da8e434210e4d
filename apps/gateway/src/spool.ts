import { mkdir, open, readFile, readdir, rename, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { decodeOperation, encodeOperation, touchedBy, type Operation } from './core/operation';

const SUFFIX = '.operation';

export interface SpooledOperation {
  readonly name: string;
  readonly operation: Operation;
  readonly capture: Uint8Array | null;
}

/**
 * Operations on disk that wait for NATS, one file each, read back in the order in which they were written. An operation counts
 * as stored once its file and its folder are synced.
 */
export class Spool {
  private readonly folder: string;
  private sequence = 0;
  private lastTime = 0;
  private ready: Promise<void> | null = null;
  /** What each waiting operation touches, by file name. */
  private readonly names = new Map<string, readonly string[]>();
  /** Those whose files are not safely there yet. */
  private readonly unfinished = new Set<string>();

  constructor(folder: string) {
    this.folder = resolve(folder);
  }

  /** Operations that wait, as far as this process knows. */
  get size(): number {
    return this.names.size;
  }

  /** Whether a waiting operation touches the same: this one must then wait behind it. */
  holdsBack(operation: Operation): boolean {
    const touched = new Set(touchedBy(operation));
    return [...this.names.values()].some((waiting) => waiting.some((entry) => touched.has(entry)));
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
        if (found) this.names.set(name, touchedBy(found.operation));
      } else if (name.endsWith('.part')) await rm(join(this.folder, name), { force: true });
    }
  }

  /** @throws when the operation is not safely on disk. */
  async append(operation: Operation, capture: Uint8Array | null): Promise<string> {
    // The name is taken before the first wait: names are in the order of the calls.
    this.lastTime = Math.max(this.lastTime, Date.now());
    const order = `${String(this.lastTime).padStart(15, '0')}-${String(this.sequence++).padStart(9, '0')}-${process.pid}`;
    const name = `${order}${SUFFIX}`;
    this.names.set(name, touchedBy(operation));
    this.unfinished.add(name);
    const path = join(this.folder, name);
    try {
      await this.prepare();
      const file = await open(`${path}.part`, 'w', 0o600);
      try {
        await file.writeFile(encodeOperation(operation, capture));
        await file.sync();
      } finally {
        await file.close();
      }
      await rename(`${path}.part`, path);
      await this.syncFolder();
      return name;
    } catch (error) {
      this.names.delete(name);
      await rm(`${path}.part`, { force: true }).catch(() => undefined);
      throw error;
    } finally {
      this.unfinished.delete(name);
    }
  }

  /** The oldest operations in order, up to `limit`. One that is still being written ends the list: what comes after it must wait. */
  async oldest(limit: number): Promise<SpooledOperation[]> {
    const found: SpooledOperation[] = [];
    for (const name of [...this.names.keys()].sort().slice(0, limit)) {
      if (this.unfinished.has(name)) break;
      const spooled = await this.read(name);
      if (spooled) found.push(spooled);
      else this.names.delete(name);
    }
    return found;
  }

  /** `null` for a file that another gateway on the same folder has done, or that is no operation. */
  private async read(name: string): Promise<SpooledOperation | null> {
    const path = join(this.folder, name);
    try {
      return { name, ...decodeOperation(await readFile(path)) };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
      if (!(error instanceof RangeError) && !(error instanceof SyntaxError)) throw error;
      // Kept for a person to look at, out of the way of the others.
      await rename(path, `${path}.unreadable`);
      return null;
    }
  }

  async remove(name: string): Promise<void> {
    await rm(join(this.folder, name), { force: true });
    this.names.delete(name);
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
