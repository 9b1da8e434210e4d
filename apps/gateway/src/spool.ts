import { mkdir, open, readFile, readdir, rename, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { decodeOperation, encodeOperation, type Operation } from './core/operation';

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
  private readonly names = new Set<string>();
  /** Those whose files are not safely there yet. */
  private readonly unfinished = new Set<string>();

  constructor(folder: string) {
    this.folder = resolve(folder);
  }

  /** Operations that wait, as far as this process knows. */
  get size(): number {
    return this.names.size;
  }

  /** Finds what an earlier process left. @throws when the folder cannot be made or read. */
  prepare(): Promise<void> {
    this.ready ??= (async () => {
      await mkdir(this.folder, { recursive: true });
      for (const name of await readdir(this.folder)) {
        if (name.endsWith(SUFFIX)) this.names.add(name);
        else if (name.endsWith('.part')) await rm(join(this.folder, name), { force: true });
      }
    })().catch((error: unknown) => {
      this.ready = null;
      throw error;
    });
    return this.ready;
  }

  /** @throws when the operation is not safely on disk. */
  async append(operation: Operation, capture: Uint8Array | null): Promise<string> {
    // The name is taken before the first wait: names are in the order of the calls.
    this.lastTime = Math.max(this.lastTime, Date.now());
    const order = `${String(this.lastTime).padStart(15, '0')}-${String(this.sequence++).padStart(9, '0')}-${process.pid}`;
    const name = `${order}${SUFFIX}`;
    this.names.add(name);
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

  /** The oldest operation, or `null`. One that is still being written ends the reading: what comes after it must wait. */
  async oldest(): Promise<SpooledOperation | null> {
    const name = [...this.names].sort()[0];
    if (name === undefined || this.unfinished.has(name)) return null;
    try {
      return { name, ...decodeOperation(await readFile(join(this.folder, name))) };
    } catch (error) {
      // Done by another gateway that shares the folder.
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') {
        this.names.delete(name);
        return this.oldest();
      }
      if (!(error instanceof RangeError) && !(error instanceof SyntaxError)) throw error;
      // Kept for a person to look at, out of the way of the others.
      await rename(join(this.folder, name), join(this.folder, `${name}.unreadable`));
      this.names.delete(name);
      return this.oldest();
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
