import { open, stat, type FileHandle } from 'node:fs/promises';
import { ModelFormatError } from './errors';
import { widenBfloat16, widenFloat16 } from './half';
import { sizeOf, type HostTensor } from './host-tensor';
import { headerLength, parseHeader, PREFIX_BYTES, type TensorEntry } from './safetensors-header';

// What a tensor of 16-bit numbers takes while it is read, beside itself. One read of a file handle is limited to 2 GiB anyway.
const PIECE_BYTES = 2 ** 20;

/** An open safetensors file: its header is read and checked, its tensors are read one by one. */
export class SafetensorsFile {
  private constructor(
    readonly path: string,
    private readonly file: FileHandle,
    private readonly dataStart: number,
    /** In file order. */
    readonly entries: ReadonlyMap<string, TensorEntry>,
    readonly metadata: Readonly<Record<string, string>>,
  ) {}

  /** Refuses (ModelFormatError) every malformation: header length, JSON, dtype, shape against size, gaps, overlaps, trailing bytes. */
  static async open(path: string): Promise<SafetensorsFile> {
    const file = await openFile(path);
    try {
      const { size } = await file.stat();
      const length = headerLength(path, await readPiece(path, file, 0, Math.min(PREFIX_BYTES, size)), size);
      const dataStart = PREFIX_BYTES + length;
      const header = parseHeader(path, await readPiece(path, file, PREFIX_BYTES, length), size - dataStart);
      const entries = new Map(header.entries.map((entry) => [entry.name, entry]));
      return new SafetensorsFile(path, file, dataStart, entries, header.metadata);
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  /** A tensor: F32 and I32 as they are, BF16 and F16 widened to float32 exactly. Takes its size and 1 MiB. */
  async read(name: string): Promise<HostTensor> {
    const { type, shape, begin, end } = this.entry(name);
    if (type === 'F32' || type === 'I32') {
      const bytes = new Uint8Array(end - begin);
      await this.fill(bytes, begin);
      return type === 'F32'
        ? { dtype: 'float32', shape, data: new Float32Array(bytes.buffer) }
        : { dtype: 'int32', shape, data: new Int32Array(bytes.buffer) };
    }
    const widen = type === 'BF16' ? widenBfloat16 : widenFloat16;
    const data = new Float32Array(sizeOf(shape));
    for await (const { bytes, at } of this.pieces(name))
      widen(new Uint16Array(bytes.buffer, bytes.byteOffset, bytes.length / 2), data, at / 2);
    return { dtype: 'float32', shape, data };
  }

  /** A tensor's bytes as they are in the file, piece by piece. Each piece is overwritten by the next. */
  async *pieces(name: string): AsyncGenerator<{ bytes: Uint8Array; at: number }> {
    const { begin, end } = this.entry(name);
    const buffer = new Uint8Array(Math.min(PIECE_BYTES, end - begin));
    for (let at = 0; begin + at < end; at += buffer.length) {
      const bytes = buffer.subarray(0, Math.min(buffer.length, end - begin - at));
      await this.fill(bytes, begin + at);
      yield { bytes, at };
    }
  }

  async close(): Promise<void> {
    await this.file.close();
  }

  private entry(name: string): TensorEntry {
    const entry = this.entries.get(name);
    if (!entry) throw new RangeError(`${this.path} holds no ${name}`);
    return entry;
  }

  private async fill(bytes: Uint8Array, begin: number): Promise<void> {
    await fillFrom(this.path, this.file, this.dataStart + begin, bytes);
  }
}

async function openFile(path: string): Promise<FileHandle> {
  try {
    // Asked before it is opened: a pipe would keep `open` waiting for a writer.
    if ((await stat(path)).isFile()) return await open(path, 'r');
  } catch (cause) {
    throw new ModelFormatError(path, cause instanceof Error ? cause.message : 'cannot be opened', { cause });
  }
  throw new ModelFormatError(path, 'is not a file');
}

async function readPiece(path: string, file: FileHandle, position: number, length: number): Promise<Uint8Array> {
  const bytes = new Uint8Array(length);
  await fillFrom(path, file, position, bytes);
  return bytes;
}

async function fillFrom(path: string, file: FileHandle, position: number, bytes: Uint8Array): Promise<void> {
  for (let done = 0; done < bytes.length;) {
    const { bytesRead } = await file.read(bytes, done, Math.min(2 ** 29, bytes.length - done), position + done);
    // Somebody has shortened the file since its size was asked for.
    if (bytesRead === 0) throw new ModelFormatError(path, `ends at byte ${position + done}, while being read`);
    done += bytesRead;
  }
}
