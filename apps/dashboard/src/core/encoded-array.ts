import type { EncodedArray } from '@hindcast/contracts';

/**
 * The numbers of an array on the wire (base64 of little-endian int32 or float32), `[T]`, whatever the machine's own byte order.
 * @throws RangeError when it is not of the stated length
 */
export function decodeArray({ dtype, length, base64 }: EncodedArray): Int32Array | Float32Array {
  const binary = atob(base64);
  if (binary.length !== length * 4)
    throw new RangeError(`${dtype}[${length}] needs ${length * 4} bytes, got ${binary.length}`);
  const bytes = Uint8Array.from(binary, (character) => character.charCodeAt(0));
  const view = new DataView(bytes.buffer);
  const numbers = dtype === 'int32' ? new Int32Array(length) : new Float32Array(length);
  for (let t = 0; t < length; t += 1)
    numbers[t] = dtype === 'int32' ? view.getInt32(t * 4, true) : view.getFloat32(t * 4, true);
  return numbers;
}
