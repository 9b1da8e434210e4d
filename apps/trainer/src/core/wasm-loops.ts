// The optimizer's inner loops as WebAssembly with four numbers per instruction, which JavaScript has no way to say. The module is made
// here from named instructions; each function below is one expression of it.

type Code = readonly number[];

/** What is used of WebAssembly's interface; TypeScript has it only among the types of browsers. */
declare const WebAssembly: {
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object, imports: object) => { readonly exports: unknown };
  readonly Memory: new (size: { readonly initial: number; readonly maximum: number }) => WasmMemory;
};

/** Memory that the loops can work on in place. */
export interface WasmMemory {
  readonly buffer: ArrayBuffer;
}

/** Arrays are addresses; `bytes` is a multiple of 64 above 0. */
export interface Loops {
  /** Factors: β₁, 1 − β₁, β₂, 1 − β₂, ε, rate, square factor, decay. @returns 0, or NaN where a new value is not finite */
  update(bytes: number, values: number, first: number, second: number, gradient: number, ...factors: number[]): number;
  /** Σ x², summed in float64. */
  sumOfSquares(bytes: number, array: number): number;
  scale(bytes: number, array: number, factor: number): void;
}

/** Numbers of a turn of each loop. */
export const TURN = 16;

/** Bytes of an array of so many float32 numbers, up to a whole number of turns. */
export const paddedBytes = (length: number): number => 4 * TURN * Math.ceil(length / TURN);

const PAGE = 65_536;
/** A memory is addressed with 32 bits. */
export const LARGEST_MEMORY = 65_535 * PAGE;

/** New memory, which is zero and takes none of the machine's until it is written. */
export function wasmMemory(bytes: number): WasmMemory {
  const pages = Math.ceil(bytes / PAGE);
  return new WebAssembly.Memory({ initial: pages, maximum: pages });
}

let compiled: object | null = null;

/** The loops on that memory. */
export function loopsOn(memory: WasmMemory): Loops {
  compiled ??= new WebAssembly.Module(moduleBytes());
  return new WebAssembly.Instance(compiled, { host: { memory } }).exports as Loops;
}

const leb = (value: number): Code => (value < 128 ? [value] : [(value & 127) | 128, ...leb(value >>> 7)]);
const vector = (opcode: number): Code => [0xfd, ...leb(opcode)];

const local = (index: number): Code => [0x20, index];
const setLocal = (index: number, value: Code): Code => [...value, 0x21, index];
/** Float32 local as four equal numbers. */
const splat = (index: number): Code => [...local(index), ...vector(0x13)];
/** The loop's place, local 0, in the array whose address is in a local. */
const place = (array: number): Code => [...local(0), ...local(array), 0x6a];
/** The four numbers so many bytes behind the place. */
const load = (array: number, offset: number): Code => [...place(array), ...vector(0x00), 4, offset];
const store = (array: number, offset: number, value: Code): Code => [
  ...[...place(array), ...value],
  ...[...vector(0x0b), 4, offset],
];

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
const floatLane = (index: number, of: number): Code => [...local(of), ...vector(0x1f), index];
const doubleLane = (index: number, of: number): Code => [...local(of), ...vector(0x21), index];

/** Four bodies one behind the other, each for four numbers, from the end down to byte 0; local 0 holds the number of bytes at first. */
const eachTurn = (body: (offset: number) => Code): Code => [
  ...[0x03, 0x40], // loop
  ...setLocal(0, [...local(0), 0x41, 0xc0, 0, 0x6b]), // local 0 −= 64, a constant in signed LEB128
  ...[0, 16, 32, 48].flatMap(body),
  ...[...local(0), 0x0d, 0, 0x0b], // branch if local 0; end
];

/** Parameters: bytes, four arrays, then the factors. Of each new value x − x is added up, which is 0 where x is finite. */
function updateBody(): Code {
  const [values, firsts, seconds, gradients] = [1, 2, 3, 4] as const;
  const [beta1, fresh1, beta2, fresh2, epsilon, rate, squareFactor, decay] = [5, 6, 7, 8, 9, 10, 11, 12].map(splat) as [
    Code,
    Code,
    Code,
    Code,
    Code,
    Code,
    Code,
    Code,
  ];
  const [mean, square, value, strange] = [13, 14, 15, 16] as const;
  const direction = div(mul(rate, local(mean)), add(sqrt(mul(local(square), squareFactor)), epsilon));
  return [
    ...eachTurn((at) => [
      ...setLocal(value, load(gradients, at)),
      ...setLocal(mean, add(mul(beta1, load(firsts, at)), mul(fresh1, local(value)))),
      ...setLocal(square, add(mul(beta2, load(seconds, at)), mul(mul(fresh2, local(value)), local(value)))),
      ...store(firsts, at, local(mean)),
      ...store(seconds, at, local(square)),
      ...setLocal(value, load(values, at)),
      ...setLocal(value, sub(sub(local(value), direction), mul(decay, local(value)))),
      ...store(gradients, at, local(value)),
      ...setLocal(strange, add(local(strange), sub(local(value), local(value)))),
    ]),
    ...[...floatLane(0, strange), ...floatLane(1, strange), 0x92],
    ...[...floatLane(2, strange), ...floatLane(3, strange), 0x92, 0x92],
  ];
}

/** Parameters: bytes, array. Eight sums beside each other, so that none waits for itself. */
function sumBody(): Code {
  const [four, two] = [10, 11] as const;
  const sums = [2, 3, 4, 5, 6, 7, 8, 9] as const;
  const addSquare = (sum: number, pair: Code): Code => [
    ...setLocal(two, pair),
    ...setLocal(sum, addDoubles(local(sum), mulDoubles(local(two), local(two)))),
  ];
  const total = sums.map(local).reduce(addDoubles);
  return [
    ...eachTurn((at) => [
      ...setLocal(four, load(1, at)),
      ...addSquare(sums[at / 8]!, lowDoubles(local(four))),
      ...addSquare(sums[at / 8 + 1]!, lowDoubles(swapHalves(local(four)))),
    ]),
    ...setLocal(two, total),
    ...[...doubleLane(0, two), ...doubleLane(1, two), 0xa0],
  ];
}

/** Parameters: bytes, array, factor. */
const scaleBody = (): Code => eachTurn((at) => store(1, at, mul(load(1, at), splat(2))));

function moduleBytes(): Uint8Array<ArrayBuffer> {
  const [i32, f32, f64, v128] = [0x7f, 0x7d, 0x7c, 0x7b] as const;
  const list = (items: readonly Code[]): Code => [...leb(items.length), ...items.flat()];
  const section = (id: number, content: Code): Code => [id, ...leb(content.length), ...content];
  const type = (parameters: Code, results: Code): Code => [
    0x60,
    ...list(parameters.map((p) => [p])),
    ...list(results.map((r) => [r])),
  ];
  const name = (text: string): Code => [...leb(text.length), ...Array.from(text, (letter) => letter.charCodeAt(0))];
  const code = (vectorLocals: number, body: Code): Code => {
    const content = [...(vectorLocals === 0 ? [0] : [1, vectorLocals, v128]), ...body, 0x0b];
    return [...leb(content.length), ...content];
  };
  const updateType = type([...new Array<number>(5).fill(i32), ...new Array<number>(8).fill(f32)], [f32]);
  return Uint8Array.from([
    ...[0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(1, list([updateType, type([i32, i32], [f64]), type([i32, i32, f32], [])])),
    ...section(2, list([[...name('host'), ...name('memory'), 2, 0, 0]])),
    ...section(3, list([[0], [1], [2]])),
    ...section(7, list(['update', 'sumOfSquares', 'scale'].map((text, index) => [...name(text), 0, index]))),
    ...section(10, list([code(4, updateBody()), code(10, sumBody()), code(0, scaleBody())])),
  ]);
}
