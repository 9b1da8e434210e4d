/** bfloat16 is the upper half of a float32: exact by a shift. Writes `bits.length` numbers into `wide` from `start` on. */
export function widenBfloat16(bits: Uint16Array, wide: Float32Array, start = 0): void {
  const target = new Uint32Array(wide.buffer, wide.byteOffset, wide.length);
  for (let i = 0; i < bits.length; i++) target[start + i] = (bits[i] as number) << 16;
}

/** IEEE 754 half precision to float32: exact, subnormal numbers, infinities and NaN included. Writes as `widenBfloat16` does. */
export function widenFloat16(bits: Uint16Array, wide: Float32Array, start = 0): void {
  halfValues ??= Float32Array.from({ length: 2 ** 16 }, (_, pattern) => halfValue(pattern));
  for (let i = 0; i < bits.length; i++) wide[start + i] = halfValues[bits[i] as number] as number;
}

/** The nearest bfloat16 of each number, ties to even; NaN stays NaN, and what is beyond the largest becomes infinity. */
export function narrowToBfloat16(wide: Float32Array): Uint16Array {
  const source = new Uint32Array(wide.buffer, wide.byteOffset, wide.length);
  const narrow = new Uint16Array(wide.length);
  for (let i = 0; i < narrow.length; i++) {
    const bits = source[i] as number;
    const isNaN = (bits & 0x7fffffff) > 0x7f800000;
    narrow[i] = isNaN ? (bits >>> 16) | 0x40 : (bits + 0x7fff + ((bits >>> 16) & 1)) >>> 16;
  }
  return narrow;
}

let halfValues: Float32Array | undefined;

function halfValue(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 0x1f;
  const fraction = bits & 0x3ff;
  if (exponent === 0x1f) return fraction === 0 ? sign * Infinity : NaN;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  return sign * (1024 + fraction) * 2 ** (exponent - 25);
}
