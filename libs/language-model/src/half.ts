/** bfloat16 is the upper half of a float32: exact by a shift. */
export function widenBfloat16(bits: Uint16Array): Float32Array {
  const wide = new Uint32Array(bits.length);
  for (let i = 0; i < bits.length; i++) wide[i] = (bits[i] as number) << 16;
  return new Float32Array(wide.buffer);
}

/** IEEE 754 half precision to float32: exact, subnormal numbers, infinities and NaN included. */
export function widenFloat16(bits: Uint16Array): Float32Array {
  halfValues ??= Float32Array.from({ length: 2 ** 16 }, (_, pattern) => halfValue(pattern));
  const wide = new Float32Array(bits.length);
  for (let i = 0; i < bits.length; i++) wide[i] = halfValues[bits[i] as number] as number;
  return wide;
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
