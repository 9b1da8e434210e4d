import { ModelFormatError } from './errors';
import { sizeOf } from './host-tensor';
import { repeatedKey } from './json-keys';

/** What a file may hold; anything else (I64, F8, ...) is refused. */
export const elementBytes = { F32: 4, F16: 2, BF16: 2, I32: 4 } as const;
export type ElementType = keyof typeof elementBytes;

/** One tensor of a file; `begin` and `end` count bytes from the end of the header. */
export interface TensorEntry {
  readonly name: string;
  readonly type: ElementType;
  readonly shape: readonly number[];
  readonly begin: number;
  readonly end: number;
}

/** Length of the field before the header: its size as a little-endian u64. */
export const PREFIX_BYTES = 8;
const MAX_HEADER_BYTES = 100_000_000;

/** The header's length from the first 8 bytes of a file of `fileBytes` bytes. */
export function headerLength(path: string, prefix: Uint8Array, fileBytes: number): number {
  if (prefix.length < PREFIX_BYTES)
    throw new ModelFormatError(path, `${fileBytes} bytes are too few for a safetensors file`);
  const length = new DataView(prefix.buffer, prefix.byteOffset).getBigUint64(0, true);
  if (length > BigInt(MAX_HEADER_BYTES))
    throw new ModelFormatError(path, `a header of ${length} bytes is over the limit of ${MAX_HEADER_BYTES}`);
  if (PREFIX_BYTES + Number(length) > fileBytes)
    throw new ModelFormatError(path, `the header's ${length} bytes reach beyond the file's ${fileBytes}`);
  return Number(length);
}

/**
 * Reads and checks a header: the tensors must cover the `dataBytes` after it exactly, without gap or overlap.
 * Entries come back in file order.
 */
export function parseHeader(
  path: string,
  header: Uint8Array,
  dataBytes: number,
): { entries: TensorEntry[]; metadata: Record<string, string> } {
  const fields = parseObject(path, header);
  const entries: TensorEntry[] = [];
  let metadata: Record<string, string> = {};
  for (const [name, value] of Object.entries(fields)) {
    if (name === '__metadata__') metadata = parseMetadata(path, value);
    else entries.push(parseEntry(path, name, value));
  }
  entries.sort((a, b) => a.begin - b.begin || a.end - b.end);
  let covered = 0;
  for (const { name, begin, end } of entries) {
    if (begin !== covered)
      throw new ModelFormatError(
        path,
        `tensor ${cut(name)} begins at byte ${begin}, ${begin < covered ? 'over' : 'beyond'} the end of the one before (${covered})`,
      );
    covered = end;
  }
  if (covered !== dataBytes)
    throw new ModelFormatError(path, `the tensors cover ${covered} bytes, the file has ${dataBytes}`);
  return { entries, metadata };
}

function parseObject(path: string, header: Uint8Array): Record<string, unknown> {
  if (header[0] !== 0x7b) throw new ModelFormatError(path, 'the header does not begin with {');
  let text: string;
  let value: unknown;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(header);
    value = JSON.parse(text);
  } catch (cause) {
    throw new ModelFormatError(path, 'the header is not JSON in UTF-8', { cause });
  }
  const repeated = repeatedKey(text);
  if (repeated !== null) throw new ModelFormatError(path, `the header has ${shown(repeated)} twice`);
  return value as Record<string, unknown>;
}

function parseMetadata(path: string, value: unknown): Record<string, string> {
  if (!isObject(value) || !Object.values(value).every((text) => typeof text === 'string'))
    throw new ModelFormatError(path, '__metadata__ is not an object of strings');
  return value as Record<string, string>;
}

function parseEntry(path: string, name: string, value: unknown): TensorEntry {
  const refuse = (problem: string): never => {
    throw new ModelFormatError(path, `tensor ${cut(name)}: ${problem}`);
  };
  if (!isObject(value)) return refuse('not an object');
  const { dtype, shape, data_offsets: offsets } = value;
  if (!isElementType(dtype))
    return refuse(`dtype ${shown(dtype)} is not one of ${Object.keys(elementBytes).join(', ')}`);
  if (!isCounts(shape)) return refuse(`shape ${shown(shape)} is not a list of sizes`);
  if (!isCounts(offsets) || offsets.length !== 2)
    return refuse(`data_offsets ${shown(offsets)} is not a pair of byte positions`);
  const [begin, end] = offsets as [number, number];
  const bytes = sizeOf(shape) * elementBytes[dtype];
  if (end - begin !== bytes)
    return refuse(`${end - begin} bytes for shape ${shown(shape)} of ${dtype}, which needs ${bytes}`);
  return { name, type: dtype, shape, begin, end };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isElementType(value: unknown): value is ElementType {
  return typeof value === 'string' && Object.hasOwn(elementBytes, value);
}

function isCounts(value: unknown): value is number[] {
  return Array.isArray(value) && value.every((count) => Number.isSafeInteger(count) && count >= 0);
}

const SHOWN_CHARACTERS = 100;

/** A value of a hostile header for a message: neither endless nor, nested deeply, beyond the stack. */
function shown(value: unknown): string {
  try {
    return cut(JSON.stringify(value) ?? 'undefined');
  } catch {
    return 'that is nested too deeply';
  }
}

function cut(text: string): string {
  return text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS)}…` : text;
}
