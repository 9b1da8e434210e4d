import { open, rename, rm, mkdir, type FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Lines that are written together. */
const BUFFERED_CHARACTERS = 1_000_000;

/** A file of lines that is there whole or not at all: it gets its name when everything is on disk. */
export class LineFile {
  private buffer: string[] = [];
  private buffered = 0;

  private constructor(
    private readonly path: string,
    private readonly handle: FileHandle,
  ) {}

  static async create(path: string): Promise<LineFile> {
    await mkdir(dirname(path), { recursive: true });
    return new LineFile(path, await open(partOf(path), 'w'));
  }

  async write(line: string): Promise<void> {
    this.buffer.push(line);
    this.buffered += line.length + 1;
    if (this.buffered > BUFFERED_CHARACTERS) await this.flush();
  }

  async finish(): Promise<void> {
    await this.flush();
    await this.handle.sync();
    await this.handle.close();
    await rename(partOf(this.path), this.path);
  }

  async abandon(): Promise<void> {
    await this.handle.close().catch(() => undefined);
    await rm(partOf(this.path), { force: true });
  }

  private async flush(): Promise<void> {
    if (this.buffer.length === 0) return;
    await this.handle.appendFile(`${this.buffer.join('\n')}\n`);
    this.buffer = [];
    this.buffered = 0;
  }
}

export const partOf = (path: string): string => `${path}.${process.pid}.part`;
