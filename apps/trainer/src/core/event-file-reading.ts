import { maskedCrc32c } from './event-file-checksum';

const HEADER = 12;
const FOOTER = 4;

/** The records of a file, up to the first that is cut off or damaged: what a killed process wrote last. */
export function* recordsOf(file: Uint8Array): Generator<Uint8Array> {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  let at = 0;
  while (at + HEADER <= file.length) {
    const length = Number(view.getBigUint64(at, true));
    const end = at + HEADER + length + FOOTER;
    if (view.getUint32(at + 8, true) !== maskedCrc32c(file.subarray(at, at + 8)) || end > file.length) return;
    const data = file.subarray(at + HEADER, end - FOOTER);
    if (view.getUint32(end - FOOTER, true) !== maskedCrc32c(data)) return;
    yield data;
    at = end;
  }
}

/**
 * The steps that TensorBoard shows once it has read this file too, after those whose steps are given: files are read in the order of their
 * names. A restart takes back what it repeats.
 */
export function shownAfter(file: Uint8Array, before: ReadonlySet<number>): Set<number> {
  const shown = new Set(before);
  for (const data of recordsOf(file)) {
    const { step, hasSummary, isRestart } = eventOf(data);
    if (isRestart) for (const other of [...shown]) if (other >= step) shown.delete(other);
    if (hasSummary) shown.add(step);
  }
  return shown;
}

/** What matters here of a `tensorflow.Event`. */
function eventOf(data: Uint8Array): { step: number; hasSummary: boolean; isRestart: boolean } {
  let step = 0;
  let hasSummary = false;
  let isRestart = false;
  for (const { field, wireType, value, bytes } of fieldsOf(data)) {
    if (field === 2 && wireType === 0) step = value;
    if (field === 5 && wireType === 2) hasSummary = true;
    if (field === 7 && wireType === 2) {
      isRestart = [...fieldsOf(bytes)].some((status) => status.field === 1 && status.value === 1);
    }
  }
  return { step, hasSummary, isRestart };
}

interface ProtobufField {
  readonly field: number;
  readonly wireType: number;
  /** Of a varint, else 0. */
  readonly value: number;
  /** Of everything else. */
  readonly bytes: Uint8Array;
}

/** The fields of a protobuf message, in order. Ends at what is no protobuf. */
function* fieldsOf(data: Uint8Array): Generator<ProtobufField> {
  let at = 0;
  const varint = (): number => {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = data[at++];
      if (byte === undefined) return NaN;
      value += (byte & 127) * scale;
      if (byte < 128) return value;
    }
  };
  while (at < data.length) {
    const tag = varint();
    const [field, wireType] = [Math.floor(tag / 8), tag % 8];
    if (wireType === 0) {
      yield { field, wireType, value: varint(), bytes: data.subarray(0, 0) };
      continue;
    }
    const length = wireType === 1 ? 8 : wireType === 5 ? 4 : wireType === 2 ? varint() : NaN;
    if (!(at + length <= data.length)) return;
    yield { field, wireType, value: 0, bytes: data.subarray(at, at + length) };
    at += length;
  }
}
