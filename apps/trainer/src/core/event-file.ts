import { ProtobufWriter } from '@hindcast/tfjs-onnx/protobuf';
import { maskedCrc32c } from './event-file-checksum';
import { histogramMessage, type ValueHistogram } from './event-file-histogram';

/** What every file of TensorBoard events begins with; readers take what a restart says into account from version 2 on. */
const FILE_VERSION = 'brain.Event:2';
/** `SessionLog.START`. */
const START = 1;

/** One step as TensorBoard shows it. */
export interface StepEvent {
  /** Seconds since the epoch. */
  readonly wallTime: number;
  readonly step: number;
  readonly scalars: readonly (readonly [tag: string, value: number])[];
  readonly histograms: readonly (readonly [tag: string, histogram: ValueHistogram])[];
}

/** The first record of a file. */
export function versionRecord(wallTime: number): Uint8Array {
  return record(new ProtobufWriter().double(1, wallTime).string(3, FILE_VERSION));
}

/** Says that a run goes on from `step`: whatever earlier files of the folder have of that step and later ones is not shown. */
export function restartRecord(wallTime: number, step: number): Uint8Array {
  return record(
    new ProtobufWriter().double(1, wallTime).varint(2, step).message(7, new ProtobufWriter().varint(1, START)),
  );
}

/**
 * The record of a step: a `tensorflow.Event` with a `Summary` of `simple_value`s and `histo`s, which TensorBoard turns into the tensors
 * of its scalars and histograms plugins. A scalar is kept as a 32-bit float.
 */
export function stepRecord({ wallTime, step, scalars, histograms }: StepEvent): Uint8Array {
  const summary = new ProtobufWriter();
  for (const [tag, value] of scalars) summary.message(1, new ProtobufWriter().string(1, tag).float(2, value));
  for (const [tag, histogram] of histograms) {
    summary.message(1, new ProtobufWriter().string(1, tag).message(5, histogramMessage(histogram)));
  }
  return record(new ProtobufWriter().double(1, wallTime).varint(2, step).message(5, summary));
}

/** TFRecord framing: the length as 64 bits, its masked CRC-32C, the bytes, their masked CRC-32C; all little-endian. */
export function framed(data: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(data.length + 16);
  const view = new DataView(bytes.buffer);
  view.setBigUint64(0, BigInt(data.length), true);
  view.setUint32(8, maskedCrc32c(bytes.subarray(0, 8)), true);
  bytes.set(data, 12);
  view.setUint32(12 + data.length, maskedCrc32c(data), true);
  return bytes;
}

function record(event: ProtobufWriter): Uint8Array {
  return framed(event.toBytes());
}
