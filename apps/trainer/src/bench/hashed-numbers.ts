// Numbers that two languages make alike, so that no weights are sent from one process to the other.

/**
 * A number in [−1, 1) that depends on nothing but its place: 32-bit finaliser of MurmurHash3 (Appleby 2011, public domain) of
 * `index + seed · 0x9e3779b9`. `tools/reference/bench_trainer.py` has the same.
 */
export function hashed(seed: number, index: number): number {
  return bitsOf(seed, index) / 2 ** 31 - 1;
}

/** A whole number in [0, below). */
export function hashedInteger(seed: number, index: number, below: number): number {
  return Math.floor((bitsOf(seed, index) / 2 ** 32) * below);
}

/** `length` float32 numbers in ±bound. */
export function hashedArray(seed: number, length: number, bound: number): Float32Array {
  const values = new Float32Array(length);
  const start = Math.imul(seed, 0x9e3779b9);
  const scale = bound / 2 ** 31;
  for (let i = 0; i < length; i++) values[i] = (finalised(start + i) >>> 0) * scale - bound;
  return values;
}

function bitsOf(seed: number, index: number): number {
  return finalised(Math.imul(seed, 0x9e3779b9) + index) >>> 0;
}

function finalised(word: number): number {
  let bits = word | 0;
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return bits ^ (bits >>> 16);
}
