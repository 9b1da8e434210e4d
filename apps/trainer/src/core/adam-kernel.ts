import { loopsOn, paddedBytes, TURN, wasmMemory, type Loops, type WasmMemory } from './wasm-loops';

/** Numbers that are worked on in one go: four arrays of so many fit into a core's cache. */
const CHUNK = 8192;

/** Factors of an update, in float32; see `adamStep`. */
export interface UpdateFactors {
  readonly beta1: number;
  readonly beta2: number;
  readonly epsilon: number;
  /** α / (1 − β₁ᵗ). */
  readonly rate: number;
  /** 1 / (1 − β₂ᵗ). */
  readonly squareFactor: number;
  /** α λ. */
  readonly decay: number;
}

/** A tensor's values with their moments and their gradient, all of one length. */
export interface Moving {
  readonly values: Float32Array;
  readonly first: Float32Array;
  readonly second: Float32Array;
  readonly gradient: Float32Array;
}

const inPlace = new WeakMap<ArrayBufferLike, Loops>();

/**
 * From now on arrays of this memory are worked on where they are; those of any other are copied in and out, chunk by chunk. Each must begin
 * at a multiple of 64 bytes, and up to the next such multiple nothing else may stand behind its end, only zeros.
 */
export function workInPlace(memory: WasmMemory): void {
  inPlace.set(memory.buffer, loopsOn(memory));
}

/** Loops that find all of these arrays in their own memory. */
function loopsIn(...arrays: readonly Float32Array[]): Loops | undefined {
  const [{ buffer }] = arrays as [Float32Array];
  return arrays.every((array) => array.buffer === buffer) ? inPlace.get(buffer) : undefined;
}

let staging: { readonly loops: Loops; readonly arrays: readonly Float32Array[] } | null = null;

/** Loops with room for four chunks. */
function staged(): NonNullable<typeof staging> {
  if (!staging) {
    const memory = wasmMemory(4 * 4 * CHUNK);
    const arrays = [0, 1, 2, 3].map((array) => new Float32Array(memory.buffer, array * CHUNK * 4, CHUNK));
    staging = { loops: loopsOn(memory), arrays };
  }
  return staging;
}

/** A chunk copied in. What stands behind its end, up to a whole number of turns, is computed with, and is zero. */
function copyIn(chunk: Float32Array, target: Float32Array): void {
  target.set(chunk);
  if (chunk.length < CHUNK) target.fill(0, chunk.length, Math.min(CHUNK, chunk.length + TURN));
}

/**
 * One step of Adam of one tensor, in float32. The moments are changed in place, and the new values are written over the gradient.
 *
 * @returns whether all new values are finite
 */
export function updateTensor({ values, first, second, gradient }: Moving, factors: UpdateFactors): boolean {
  const { beta1, beta2, epsilon, rate, squareFactor, decay } = factors;
  const all = [beta1, 1 - beta1, beta2, 1 - beta2, epsilon, rate, squareFactor, decay];
  const arrays = [values, first, second, gradient] as const;
  const loops = loopsIn(...arrays);
  if (loops && gradient.length > 0) {
    const addresses = arrays.map(({ byteOffset }) => byteOffset) as [number, number, number, number];
    return loops.update(paddedBytes(gradient.length), ...addresses, ...all) === 0;
  }
  const { loops: own, arrays: copies } = staged();
  let strange = 0;
  for (let from = 0; from < gradient.length; from += CHUNK) {
    const chunks = arrays.map((array) => array.subarray(from, from + CHUNK));
    chunks.forEach((chunk, i) => copyIn(chunk, copies[i]!));
    const { length } = chunks[0]!;
    strange += own.update(paddedBytes(length), 0, 4 * CHUNK, 8 * CHUNK, 12 * CHUNK, ...all);
    for (const i of [1, 2, 3]) chunks[i]!.set(copies[i]!.subarray(0, length));
  }
  return strange === 0;
}

/** Σ x², summed in float64, always in the same order. */
export function sumOfSquares(values: Float32Array): number {
  const loops = loopsIn(values);
  const { loops: own, arrays } = staged();
  let sum = 0;
  for (let from = 0; from < values.length; from += CHUNK) {
    const bytes = paddedBytes(Math.min(CHUNK, values.length - from));
    if (loops) sum += loops.sumOfSquares(bytes, values.byteOffset + 4 * from);
    else {
      copyIn(values.subarray(from, from + CHUNK), arrays[0]!);
      sum += own.sumOfSquares(bytes, 0);
    }
  }
  return sum;
}

/** Multiplies every number by a factor, in place, in float32. */
export function scaleTensor(values: Float32Array, factor: number): void {
  const loops = loopsIn(values);
  if (loops && values.length > 0) return loops.scale(paddedBytes(values.length), values.byteOffset, factor);
  const { loops: own, arrays } = staged();
  for (let from = 0; from < values.length; from += CHUNK) {
    const chunk = values.subarray(from, from + CHUNK);
    copyIn(chunk, arrays[0]!);
    own.scale(paddedBytes(chunk.length), 0, factor);
    chunk.set(arrays[0]!.subarray(0, chunk.length));
  }
}
