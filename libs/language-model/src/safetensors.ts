import { writeAtomically } from './atomic-file';
import { sizeOf, type HostTensor } from './host-tensor';
import { SafetensorsFile } from './safetensors-file';
import { elementBytes, PREFIX_BYTES, type ElementType, type TensorEntry } from './safetensors-header';

/** All tensors of a safetensors file, in file order. Errors and numbers as `SafetensorsFile` has them. */
export async function readSafetensors(path: string): Promise<Map<string, HostTensor>> {
  const file = await SafetensorsFile.open(path);
  try {
    const tensors = new Map<string, HostTensor>();
    for (const name of file.entries.keys()) tensors.set(name, await file.read(name));
    return tensors;
  } finally {
    await file.close();
  }
}

/** Names, shapes and `__metadata__` of a safetensors file, without its data. */
export async function readSafetensorsHeader(
  path: string,
): Promise<{ entries: TensorEntry[]; metadata: Readonly<Record<string, string>> }> {
  const file = await SafetensorsFile.open(path);
  await file.close();
  return { entries: [...file.entries.values()], metadata: file.metadata };
}

/** Writes F32 and I32 tensors, sorted by name, to a temporary file beside `path`, and renames it once it is on disk. */
export async function writeSafetensors(
  path: string,
  tensors: ReadonlyMap<string, HostTensor>,
  metadata: Readonly<Record<string, string>> = {},
): Promise<void> {
  await writeAtomically(path, encodeSafetensors(tensors, metadata));
}

/** A tensor that is to be written: its bytes are asked for when it is its turn. */
export interface TensorSource {
  readonly type: ElementType;
  readonly shape: readonly number[];
  readonly bytes: () => Promise<Uint8Array>;
}

/** Writes tensors that are made one after the other, so that no more than one is in memory. Otherwise as `writeSafetensors`. */
export async function streamSafetensors(
  path: string,
  sources: ReadonlyMap<string, TensorSource>,
  metadata: Readonly<Record<string, string>> = {},
): Promise<void> {
  const { header, names } = layOut(sources, metadata);
  const pieces = async function* (): AsyncGenerator<Uint8Array> {
    yield header;
    for (const name of names) {
      const { type, shape, bytes } = sources.get(name) as TensorSource;
      const piece = await bytes();
      if (piece.length !== sizeOf(shape) * elementBytes[type])
        throw new RangeError(`tensor ${name}: ${piece.length} bytes for shape [${shape.join(', ')}] of ${type}`);
      yield piece;
    }
  };
  await writeAtomically(path, pieces());
}

/** The pieces of a safetensors file in order: length and header, then each tensor's bytes (views, not copies). */
export function encodeSafetensors(
  tensors: ReadonlyMap<string, HostTensor>,
  metadata: Readonly<Record<string, string>> = {},
): Uint8Array[] {
  const layout = new Map<string, Pick<TensorSource, 'type' | 'shape'>>();
  for (const [name, { dtype, shape, data }] of tensors) {
    if (data.length !== sizeOf(shape))
      throw new RangeError(`tensor ${name}: ${data.length} values for shape [${shape.join(', ')}]`);
    layout.set(name, { type: dtype === 'float32' ? 'F32' : 'I32', shape });
  }
  const { header, names } = layOut(layout, metadata);
  const bytesOf = (name: string): Uint8Array => {
    const { data } = tensors.get(name) as HostTensor;
    return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  };
  return [header, ...names.map(bytesOf)];
}

/** The header of a file that holds the tensors sorted by name, and that order. */
function layOut(
  tensors: ReadonlyMap<string, Pick<TensorSource, 'type' | 'shape'>>,
  metadata: Readonly<Record<string, string>>,
): { header: Uint8Array; names: string[] } {
  const fields: [string, unknown][] = [];
  if (Object.keys(metadata).length > 0) fields.push(['__metadata__', metadata]);
  const sorted = [...tensors].sort(([a], [b]) => (a < b ? -1 : 1));
  let begin = 0;
  for (const [name, { type, shape }] of sorted) {
    if (name === '__metadata__') throw new RangeError('no tensor can be called __metadata__');
    const end = begin + sizeOf(shape) * elementBytes[type];
    fields.push([name, { dtype: type, shape, data_offsets: [begin, end] }]);
    begin = end;
  }
  return { header: headerBytes(fields), names: sorted.map(([name]) => name) };
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
