import { z } from 'zod';

/**
 * A numeric array on the wire: base64 of its little-endian bytes, with dtype and length.
 * Never JSON numbers: `JSON.stringify` turns NaN and Infinity into `null`, and `null` into a silent zero.
 */
export const EncodedArray = z.strictObject({
  dtype: z.enum(['int32', 'float32']),
  length: z.int().nonnegative(),
  base64: z.base64(),
});
export type EncodedArray = z.infer<typeof EncodedArray>;

/** Token ids, `[T]` int32, each ≥ 0. */
export const EncodedIds = EncodedArray.refine((array) => decodes(array, decodeIds), {
  message: 'not an int32 array of non-negative token ids of the stated length',
});
/** Log-probabilities, `[T]` float32, nats, each finite and ≤ 0 up to rounding. */
export const EncodedLogProbs = EncodedArray.refine((array) => decodes(array, decodeLogProbs), {
  message: 'not a finite, non-positive float32 array of the stated length',
});

/** Any numbers, `[T]` float32, each finite. */
export const EncodedNumbers = EncodedArray.refine((array) => decodes(array, decodeNumbers), {
  message: 'not a finite float32 array of the stated length',
});

/** A float32 log-softmax can exceed 0 by rounding; more than this is not a log-probability. Nats. */
const LOG_PROB_ROUNDING = 1e-3;

export function encodeIds(ids: ArrayLike<number>): EncodedArray {
  assertIds(ids);
  return encode('int32', Int32Array.from(ids));
}

export function encodeLogProbs(logProbs: ArrayLike<number>): EncodedArray {
  const array = Float32Array.from(logProbs);
  assertLogProbs(array);
  return encode('float32', array);
}

export function encodeNumbers(numbers: ArrayLike<number>): EncodedArray {
  const array = Float32Array.from(numbers);
  assertFinite(array);
  return encode('float32', array);
}

/** @throws RangeError when dtype, length or a value is not what the array claims. */
export function decodeIds(array: EncodedArray): Int32Array {
  const ids = new Int32Array(bytesOf(array, 'int32'));
  assertIds(ids);
  return ids;
}

/** @throws RangeError when dtype, length or a value is not what the array claims. */
export function decodeLogProbs(array: EncodedArray): Float32Array {
  const logProbs = new Float32Array(bytesOf(array, 'float32'));
  assertLogProbs(logProbs);
  return logProbs;
}

/** @throws RangeError when dtype, length or a value is not what the array claims. */
export function decodeNumbers(array: EncodedArray): Float32Array {
  const numbers = new Float32Array(bytesOf(array, 'float32'));
  assertFinite(numbers);
  return numbers;
}

function assertFinite(numbers: Float32Array): void {
  const t = numbers.findIndex((number) => !Number.isFinite(number));
  if (t >= 0) throw new RangeError(`${numbers[t]} at position ${t} is not finite`);
}

export function assertIds(ids: ArrayLike<number>): void {
  if (ids instanceof Int32Array && areNonNegative(ids)) return;
  for (let t = 0; t < ids.length; t++) {
    const id = ids[t]!;
    if (!Number.isInteger(id) || id < 0 || id > 0x7fffffff)
      throw new RangeError(`token id ${id} at position ${t} is not an int32 ≥ 0`);
  }
}

/** What cannot be anything but int32 is looked through in a fraction of the time: one of them has a sign, or none. */
function areNonNegative(ids: Int32Array): boolean {
  const { length } = ids;
  let signs = 0;
  let t = 0;
  // Eight at a time takes half as long.
  for (; t <= length - 8; t += 8)
    signs |= ids[t]! | ids[t + 1]! | ids[t + 2]! | ids[t + 3]! | ids[t + 4]! | ids[t + 5]! | ids[t + 6]! | ids[t + 7]!;
  for (; t < length; t++) signs |= ids[t]!;
  return signs >= 0;
}

export function assertLogProbs(logProbs: ArrayLike<number>): void {
  if (logProbs instanceof Float32Array && areLogProbs(logProbs)) return;
  for (let t = 0; t < logProbs.length; t++) {
    const logProb = logProbs[t]!;
    if (!Number.isFinite(logProb)) throw new RangeError(`log-prob ${logProb} at position ${t} is not finite`);
    if (logProb > LOG_PROB_ROUNDING) throw new RangeError(`log-prob ${logProb} at position ${t} is positive`);
  }
}

/** Looks through all of them without a branch for each: what is not finite leaves NaN when multiplied by zero. */
function areLogProbs(logProbs: Float32Array): boolean {
  let trace = 0;
  let largest = -Infinity;
  for (let t = 0; t < logProbs.length; t++) {
    const logProb = logProbs[t]!;
    trace += logProb * 0;
    if (logProb > largest) largest = logProb;
  }
  return trace === 0 && largest <= LOG_PROB_ROUNDING;
}

// The product runs on little-endian machines only (x64, arm64); a typed array's own bytes are then the wire bytes.
function encode(dtype: EncodedArray['dtype'], array: Int32Array | Float32Array): EncodedArray {
  return {
    dtype,
    length: array.length,
    base64: Buffer.from(array.buffer, array.byteOffset, array.byteLength).toString('base64'),
  };
}

function bytesOf(array: EncodedArray, dtype: EncodedArray['dtype']): ArrayBuffer {
  if (array.dtype !== dtype) throw new RangeError(`expected ${dtype}, got ${array.dtype}`);
  const bytes = Buffer.from(array.base64, 'base64');
  if (bytes.byteLength !== array.length * 4) {
    throw new RangeError(`${dtype}[${array.length}] needs ${array.length * 4} bytes, got ${bytes.byteLength}`);
  }
  return bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength) as ArrayBuffer;
}

function decodes(array: EncodedArray, decode: (array: EncodedArray) => unknown): boolean {
  try {
    decode(array);
    return true;
  } catch {
    return false;
  }
}
