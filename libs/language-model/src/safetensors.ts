import { open, type FileHandle } from 'node:fs/promises';
import { writeAtomically } from './atomic-file';
import { ModelFormatError } from './errors';
import { widenBfloat16, widenFloat16 } from './half';
import { sizeOf, type HostTensor } from './host-tensor';
import { headerLength, parseHeader, PREFIX_BYTES, type TensorEntry } from './safetensors-header';

// One read of a file handle is limited to 2 GiB.
const READ_BYTES = 2 ** 29;

/**
 * All tensors of a safetensors file, in file order. F32 and I32 as they are, BF16 and F16 widened to float32 exactly.
 * Refuses (ModelFormatError) every malformation: header length, JSON, dtype, shape against size, gaps, overlaps, trailing bytes.
 */
export async function readSafetensors(path: string): Promise<Map<string, HostTensor>> {
  const file = await open(path, 'r');
  try {
    const { entries, dataStart } = await readHeader(path, file);
    const tensors = new Map<string, HostTensor>();
    for (const entry of entries)
      tensors.set(
        entry.name,
        hostTensor(entry, await readBytes(path, file, dataStart + entry.begin, entry.end - entry.begin)),
      );
    return tensors;
  } finally {
    await file.close();
  }
}

/** Names, shapes and `__metadata__` of a safetensors file, without its data. */
export async function readSafetensorsHeader(
  path: string,
): Promise<{ entries: TensorEntry[]; metadata: Record<string, string> }> {
  const file = await open(path, 'r');
  try {
    return await readHeader(path, file);
  } finally {
    await file.close();
  }
}

/** Writes F32 and I32 tensors, sorted by name, to a temporary file beside `path`, and renames it once it is on disk. */
export async function writeSafetensors(
  path: string,
  tensors: ReadonlyMap<string, HostTensor>,
  metadata: Readonly<Record<string, string>> = {},
): Promise<void> {
  await writeAtomically(path, encodeSafetensors(tensors, metadata));
}

/** The pieces of a safetensors file in order: length and header, then each tensor's bytes (views, not copies). */
export function encodeSafetensors(
  tensors: ReadonlyMap<string, HostTensor>,
  metadata: Readonly<Record<string, string>> = {},
): Uint8Array[] {
  const header: [string, unknown][] = [];
  if (Object.keys(metadata).length > 0) header.push(['__metadata__', metadata]);
  const pieces: Uint8Array[] = [];
  let begin = 0;
  const sorted = [...tensors].sort(([a], [b]) => (a < b ? -1 : 1));
  for (const [name, { dtype, shape, data }] of sorted) {
    if (name === '__metadata__') throw new RangeError('no tensor can be called __metadata__');
    if (data.length !== sizeOf(shape))
      throw new RangeError(`tensor ${name}: ${data.length} values for shape [${shape.join(', ')}]`);
    const end = begin + data.byteLength;
    header.push([name, { dtype: dtype === 'float32' ? 'F32' : 'I32', shape, data_offsets: [begin, end] }]);
    pieces.push(new Uint8Array(data.buffer, data.byteOffset, data.byteLength));
    begin = end;
  }
  return [headerBytes(header), ...pieces];
}

function headerBytes(fields: [string, unknown][]): Uint8Array {
  // Not an object of JavaScript: that would put number-like names first and swallow "__proto__".
  const json = Buffer.from(
    `{${fields.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`).join(',')}}`,
  );
  // Spaces after the JSON bring the data to a multiple of 8 bytes, so that readers can map it.
  const bytes = Buffer.alloc(PREFIX_BYTES + Math.ceil(json.length / 8) * 8, ' ');
  bytes.writeBigUInt64LE(BigInt(bytes.length - PREFIX_BYTES));
  json.copy(bytes, PREFIX_BYTES);
  return bytes;
}

async function readHeader(path: string, file: FileHandle) {
  const { size } = await file.stat();
  const length = headerLength(path, await readBytes(path, file, 0, Math.min(PREFIX_BYTES, size)), size);
  const dataStart = PREFIX_BYTES + length;
  return { ...parseHeader(path, await readBytes(path, file, PREFIX_BYTES, length), size - dataStart), dataStart };
}

async function readBytes(path: string, file: FileHandle, position: number, length: number): Promise<Uint8Array> {
  const bytes = new Uint8Array(length);
  for (let done = 0; done < length;) {
    const { bytesRead } = await file.read(bytes, done, Math.min(READ_BYTES, length - done), position + done);
    if (bytesRead === 0) throw new ModelFormatError(path, `ends at byte ${position + done}, while being read`);
    done += bytesRead;
  }
  return bytes;
}

/** `bytes` begins at offset 0 of a buffer of its own, so that every element is aligned. */
function hostTensor({ type, shape }: TensorEntry, bytes: Uint8Array): HostTensor {
  const { buffer } = bytes;
  switch (type) {
    case 'F32':
      return { dtype: 'float32', shape, data: new Float32Array(buffer) };
    case 'I32':
      return { dtype: 'int32', shape, data: new Int32Array(buffer) };
    case 'BF16':
      return { dtype: 'float32', shape, data: widenBfloat16(new Uint16Array(buffer)) };
    case 'F16':
      return { dtype: 'float32', shape, data: widenFloat16(new Uint16Array(buffer)) };
  }
}
