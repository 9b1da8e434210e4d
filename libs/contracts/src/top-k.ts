/** The teacher's K most likely ids and their log-probs at every response position, both row by row, `[R, K]`. */
export interface TopK {
  readonly k: number;
  /** `[R × K]` int32. */
  readonly ids: Int32Array;
  /** log π_T, `[R × K]` float32, nats. */
  readonly logProbs: Float32Array;
}

const HEADER_BYTES = 12;
/** "HTK1". */
const MAGIC = 0x314b5448;

/**
 * Value of the bucket `top-k`: magic, K, R as uint32, then ids as int32 and log-probs as float32, all little-endian.
 *
 * @throws RangeError when the arrays are no `[R, K]` or a log-prob is not finite
 */
export function encodeTopK({ k, ids, logProbs }: TopK): Uint8Array {
  assertShape(k, ids.length, logProbs);
  const view = new DataView(new ArrayBuffer(HEADER_BYTES + 8 * ids.length));
  view.setUint32(0, MAGIC, true);
  view.setUint32(4, k, true);
  view.setUint32(8, ids.length / k, true);
  ids.forEach((id, i) => view.setInt32(HEADER_BYTES + 4 * i, id, true));
  logProbs.forEach((logProb, i) => view.setFloat32(HEADER_BYTES + 4 * (ids.length + i), logProb, true));
  return new Uint8Array(view.buffer);
}

/** @throws RangeError when the bytes are no such value */
export function decodeTopK(bytes: Uint8Array): TopK {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes.byteLength < HEADER_BYTES || view.getUint32(0, true) !== MAGIC) throw new RangeError('no top-K value');
  const k = view.getUint32(4, true);
  const count = k * view.getUint32(8, true);
  if (bytes.byteLength !== HEADER_BYTES + 8 * count) throw new RangeError(`top-K value of ${bytes.byteLength} bytes`);
  const ids = Int32Array.from({ length: count }, (_, i) => view.getInt32(HEADER_BYTES + 4 * i, true));
  const logProbs = Float32Array.from({ length: count }, (_, i) =>
    view.getFloat32(HEADER_BYTES + 4 * (count + i), true),
  );
  assertShape(k, count, logProbs);
  return { k, ids, logProbs };
}

function assertShape(k: number, count: number, logProbs: Float32Array): void {
  if (!Number.isInteger(k) || k < 1 || count === 0 || count % k !== 0 || logProbs.length !== count) {
    throw new RangeError(`${count} ids and ${logProbs.length} log-probs are no [R, ${k}]`);
  }
  if (!logProbs.every((logProb) => Number.isFinite(logProb))) throw new RangeError('a top-K log-prob is not finite');
}
