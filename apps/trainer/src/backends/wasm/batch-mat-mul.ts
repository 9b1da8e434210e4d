import { broadcast_util, util, type TensorInfo } from '@tensorflow/tfjs';
import { WasmHeap } from './wasm-heap';

export interface MatMulOptions {
  readonly transposeA: boolean;
  readonly transposeB: boolean;
}

const FLOAT_BYTES = 4;
/** Side of the square that a transpose moves at once: two of them fit the first-level cache. */
const TILE = 32;

/**
 * `[…, M, K] · […, K, N] → […, M, N]` with broadcast batch dimensions, every product by XNNPACK.
 *
 * The backend's own kernel takes XNNPACK for one plain product only and computes all others by a scalar loop, and it takes
 * batch dimensions modulo each other, which is right only where one side has none.
 */
export function batchMatMul(heap: WasmHeap, a: TensorInfo, b: TensorInfo, options: MatMulOptions): TensorInfo {
  if (a.dtype !== 'float32' || b.dtype !== 'float32') throw new TypeError(`matMul of ${a.dtype} and ${b.dtype}`);
  const left = matrixOf(a, options.transposeA);
  const right = matrixOf(b, options.transposeB);
  if (left.columns !== right.rows) throw new RangeError(`matMul of [${a.shape.join()}] and [${b.shape.join()}]`);
  const batch = broadcast_util.assertAndGetBroadcastShape(left.batch, right.batch);
  const [m, k, n] = [left.rows, left.columns, right.columns];
  const out = heap.backend.makeOutput([...batch, m, n], 'float32');
  const products = util.sizeFromShape(batch);
  if (products * m * n === 0) return out;
  if (k === 0) {
    heap.floats(heap.offsetOf(out), products * m * n).fill(0);
    return out;
  }
  const isStacked = !left.isTransposed && util.sizeFromShape(right.batch) === 1;
  // The rows of all left matrices are one taller matrix where the right one is the same.
  const rows = isStacked ? products * m : m;
  const operandA = new Operand(heap, 'a', a, left, batch, rows);
  const operandB = new Operand(heap, 'b', b, right, batch, k);
  const isWholeTensor = !right.isTransposed && util.sizeFromShape(right.batch) === 1;
  const to = heap.offsetOf(out);
  for (let i = 0; i < (isStacked ? 1 : products); i++) {
    heap.multiply(operandA.plain(i), isWholeTensor ? b : operandB.plain(i), to + i * m * n * FLOAT_BYTES, [rows, k, n]);
  }
  return out;
}

interface Matrix {
  readonly batch: number[];
  /** Of the matrix that is multiplied: transposed already. */
  readonly rows: number;
  readonly columns: number;
  readonly isTransposed: boolean;
}

function matrixOf({ shape }: TensorInfo, isTransposed: boolean): Matrix {
  const [rows, columns] = shape.slice(-2) as [number, number];
  const batch = shape.slice(0, -2);
  return isTransposed ? { batch, rows: columns, columns: rows, isTransposed } : { batch, rows, columns, isTransposed };
}

/** One side of the products: finds its matrix for each of them, and transposes it into room of its own where that is asked. */
class Operand {
  private readonly index: (product: number) => number;
  private readonly offset: number;
  private readonly room: number;
  private transposed = -1;

  constructor(
    private readonly heap: WasmHeap,
    name: string,
    tensor: TensorInfo,
    private readonly matrix: Matrix,
    batch: readonly number[],
    rows: number,
  ) {
    const size = rows * matrix.columns;
    this.index = broadcastIndex(matrix.batch, batch);
    this.room = matrix.isTransposed ? heap.room(name, size) : 0;
    this.offset = heap.offsetOf(tensor);
  }

  /** Offset of the matrix of that product, rows first. */
  plain(product: number): number {
    const { rows, columns, isTransposed } = this.matrix;
    const index = this.index(product);
    const offset = this.offset + index * rows * columns * FLOAT_BYTES;
    if (!isTransposed) return offset;
    if (this.transposed !== index) {
      const size = rows * columns;
      transpose(this.heap.floats(offset, size), this.heap.floats(this.room, size), columns, rows);
      this.transposed = index;
    }
    return this.room;
  }
}

/** From the row-major index of a broadcast batch to that of the operand, whose missing or single dimensions repeat. */
function broadcastIndex(own: readonly number[], batch: readonly number[]): (product: number) => number {
  const strides = util.computeStrides([...own, 1]);
  const missing = batch.length - own.length;
  const steps = batch.map((_, d) => (d < missing || own[d - missing] === 1 ? 0 : strides[d - missing]!));
  if (steps.every((step) => step === 0)) return () => 0;
  return (product) => {
    let index = 0;
    for (let d = batch.length - 1, rest = product; d >= 0; d--) {
      index += (rest % batch[d]!) * steps[d]!;
      rest = Math.floor(rest / batch[d]!);
    }
    return index;
  };
}

/** `from[rows, columns]` → `to[columns, rows]`, tile by tile so that both sides stay in the cache. */
function transpose(from: Float32Array, to: Float32Array, rows: number, columns: number): void {
  for (let row0 = 0; row0 < rows; row0 += TILE) {
    const row1 = Math.min(rows, row0 + TILE);
    for (let column0 = 0; column0 < columns; column0 += TILE) {
      const column1 = Math.min(columns, column0 + TILE);
      for (let column = column0; column < column1; column++) {
        const start = column * rows;
        for (let row = row0; row < row1; row++) to[start + row] = from[row * columns + column]!;
      }
    }
  }
}
