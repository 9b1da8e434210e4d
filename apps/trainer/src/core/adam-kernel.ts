// The optimizer's inner loops as WebAssembly with four numbers per instruction, which JavaScript has no way to say. The module is made
// here from named instructions; each function below is one expression of it.

type Code = readonly number[];

/** Elements of a tensor that are in the module's memory at once: its four arrays fit into a core's cache. */
const CHUNK = 8192;
const PAGE = 65_536;

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

/** What is used of WebAssembly's interface; TypeScript has it only among the types of browsers. */
declare const WebAssembly: {
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object) => { readonly exports: unknown };
};

interface Kernel {
  readonly memory: { readonly buffer: ArrayBuffer };
  update(bytes: number, ...factors: number[]): void;
  sumOfSquares(bytes: number): number;
  scale(bytes: number, factor: number): void;
}

const leb = (value: number): Code => (value < 128 ? [value] : [(value & 127) | 128, ...leb(value >>> 7)]);
const vector = (opcode: number): Code => [0xfd, ...leb(opcode)];

const local = (index: number): Code => [0x20, index];
const setLocal = (index: number, value: Code): Code => [...value, 0x21, index];
/** Float32 local as four equal numbers. */
const splat = (index: number): Code => [...local(index), ...vector(0x13)];
const memoryArgument = (array: number): Code => [4, ...leb(array * CHUNK * 4)];
/** The four numbers of an array at the loop's place. */
const load = (array: number): Code => [...local(0), ...vector(0x00), ...memoryArgument(array)];
const store = (array: number, value: Code): Code => [...local(0), ...value, ...vector(0x0b), ...memoryArgument(array)];

const binary =
  (opcode: number) =>
  (a: Code, b: Code): Code => [...a, ...b, ...vector(opcode)];
const add = binary(0xe4);
const sub = binary(0xe5);
const mul = binary(0xe6);
const div = binary(0xe7);
const sqrt = (a: Code): Code => [...a, ...vector(0xe3)];
const addDoubles = binary(0xf0);
const mulDoubles = binary(0xf2);
/** The first two of four float32 as float64. */
const lowDoubles = (a: Code): Code => [...a, ...vector(0x5f)];
/** The last two first. */
const swapHalves = (a: Code): Code => [
  ...a,
  ...a,
  ...vector(0x0d),
  8,
  9,
  10,
  11,
  12,
  13,
  14,
  15,
  0,
  1,
  2,
  3,
  4,
  5,
  6,
  7,
];

/** `body` from where local 0 stands, 16 bytes at a time, down to byte 0; local 0 holds the number of bytes at first. */
const eachFour = (body: Code): Code => [
  ...[0x03, 0x40], // loop
  ...setLocal(0, [...local(0), 0x41, 16, 0x6b]), // local 0 −= 16
  ...body,
  ...[...local(0), 0x0d, 0, 0x0b], // branch if local 0; end
];

const [VALUES, FIRST, SECOND, GRADIENT] = [0, 1, 2, 3] as const;

/** Parameters: bytes, then β₁, 1 − β₁, β₂, 1 − β₂, ε, rate, square factor, decay. */
function updateBody(): Code {
  const [beta1, fresh1, beta2, fresh2, epsilon, rate, squareFactor, decay] = [1, 2, 3, 4, 5, 6, 7, 8].map(splat) as [
    Code,
    Code,
    Code,
    Code,
    Code,
    Code,
    Code,
    Code,
  ];
  const [mean, square] = [9, 10] as const;
  const gradient = load(GRADIENT);
  const direction = div(mul(rate, local(mean)), add(sqrt(mul(local(square), squareFactor)), epsilon));
  return eachFour([
    ...setLocal(mean, add(mul(beta1, load(FIRST)), mul(fresh1, gradient))),
    ...setLocal(square, add(mul(beta2, load(SECOND)), mul(mul(fresh2, gradient), gradient))),
    ...store(FIRST, local(mean)),
    ...store(SECOND, local(square)),
    ...store(VALUES, sub(sub(load(VALUES), direction), mul(decay, load(VALUES)))),
  ]);
}

/** Parameter: bytes. Result: Σ x² of the first array, in float64. */
function sumBody(): Code {
  const [low, high, four, two] = [1, 2, 3, 4] as const;
  const addSquare = (sum: number, pair: Code): Code => [
    ...setLocal(two, pair),
    ...setLocal(sum, addDoubles(local(sum), mulDoubles(local(two), local(two)))),
  ];
  const lane = (index: number, of: number): Code => [...local(of), ...vector(0x21), index];
  const total = [...lane(0, low), ...lane(1, low), 0xa0, ...lane(0, high), ...lane(1, high), 0xa0, 0xa0];
  return [
    ...eachFour([
      ...setLocal(four, load(VALUES)),
      ...addSquare(low, lowDoubles(local(four))),
      ...addSquare(high, lowDoubles(swapHalves(local(four)))),
    ]),
    ...total,
  ];
}

/** Parameters: bytes, factor. */
const scaleBody = (): Code => eachFour(store(VALUES, mul(load(VALUES), splat(1))));

function moduleBytes(): Uint8Array<ArrayBuffer> {
  const [i32, f32, f64, v128] = [0x7f, 0x7d, 0x7c, 0x7b] as const;
  const list = (items: readonly Code[]): Code => [...leb(items.length), ...items.flat()];
  const section = (id: number, content: Code): Code => [id, ...leb(content.length), ...content];
  const type = (parameters: Code, results: Code): Code => [
    0x60,
    ...list(parameters.map((p) => [p])),
    ...list(results.map((r) => [r])),
  ];
  const exported = (name: string, kind: number, index: number): Code => [
    ...leb(name.length),
    ...Array.from(name, (letter) => letter.charCodeAt(0)),
    kind,
    index,
  ];
  const code = (vectorLocals: number, body: Code): Code => {
    const content = [1, vectorLocals, v128, ...body, 0x0b];
    return [...leb(content.length), ...content];
  };
  return Uint8Array.from([
    ...[0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(1, list([type([i32, ...new Array<number>(8).fill(f32)], []), type([i32], [f64]), type([i32, f32], [])])),
    ...section(3, list([[0], [1], [2]])),
    ...section(5, list([[0, Math.ceil((4 * 4 * CHUNK) / PAGE)]])),
    ...section(
      7,
      list([
        exported('memory', 2, 0),
        exported('update', 0, 0),
        exported('sumOfSquares', 0, 1),
        exported('scale', 0, 2),
      ]),
    ),
    ...section(10, list([code(2, updateBody()), code(4, sumBody()), code(0, scaleBody())])),
  ]);
}

let kernel: { readonly run: Kernel; readonly arrays: readonly Float32Array[] } | null = null;

function loaded(): NonNullable<typeof kernel> {
  if (!kernel) {
    const { exports } = new WebAssembly.Instance(new WebAssembly.Module(moduleBytes()));
    const run = exports as unknown as Kernel;
    const arrays = [0, 1, 2, 3].map((array) => new Float32Array(run.memory.buffer, array * CHUNK * 4, CHUNK));
    kernel = { run, arrays };
  }
  return kernel;
}

/** Bytes of a chunk up to a whole number of vectors. What stands behind its end is computed with, and not copied back. */
const paddedBytes = (length: number): number => 16 * Math.ceil(length / 4);

/**
 * One step of Adam of one tensor, in float32. The moments are changed in place, and the new values are written over the gradient.
 *
 * @returns Σ of the squares of the new values: finite where they are
 */
export function updateTensor({ values, first, second, gradient }: Moving, factors: UpdateFactors): number {
  const { run, arrays } = loaded();
  const { beta1, beta2, epsilon, rate, squareFactor, decay } = factors;
  let sum = 0;
  for (let from = 0; from < gradient.length; from += CHUNK) {
    const to = Math.min(gradient.length, from + CHUNK);
    arrays[VALUES]!.set(values.subarray(from, to));
    arrays[FIRST]!.set(first.subarray(from, to));
    arrays[SECOND]!.set(second.subarray(from, to));
    arrays[GRADIENT]!.set(gradient.subarray(from, to));
    run.update(paddedBytes(to - from), beta1, 1 - beta1, beta2, 1 - beta2, epsilon, rate, squareFactor, decay);
    gradient.set(arrays[VALUES]!.subarray(0, to - from), from);
    first.set(arrays[FIRST]!.subarray(0, to - from), from);
    second.set(arrays[SECOND]!.subarray(0, to - from), from);
    sum += sumOfChunk(to - from);
  }
  return sum;
}

/** Σ x² of the first numbers of the first array. */
function sumOfChunk(length: number): number {
  const { run, arrays } = loaded();
  if (length < CHUNK) arrays[VALUES]!.fill(0, length, Math.min(CHUNK, length + 4));
  return run.sumOfSquares(paddedBytes(length));
}

/** Σ x², summed in float64, always in the same order. */
export function sumOfSquares(values: Float32Array): number {
  const chunk = loaded().arrays[VALUES]!;
  let sum = 0;
  for (let from = 0; from < values.length; from += CHUNK) {
    const to = Math.min(values.length, from + CHUNK);
    chunk.set(values.subarray(from, to));
    sum += sumOfChunk(to - from);
  }
  return sum;
}

/** Multiplies every number by a factor, in place, in float32. */
export function scaleTensor(values: Float32Array, factor: number): void {
  const { run, arrays } = loaded();
  const chunk = arrays[VALUES]!;
  for (let from = 0; from < values.length; from += CHUNK) {
    const to = Math.min(values.length, from + CHUNK);
    chunk.set(values.subarray(from, to));
    run.scale(paddedBytes(to - from), factor);
    values.set(chunk.subarray(0, to - from), from);
  }
}
