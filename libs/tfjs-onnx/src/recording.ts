import { type HostData, hostData, sizeOf } from './host-tensor';
import type { ElementType } from './host-tensor';
import { type OnnxAttribute, OnnxGraph, type OnnxValue } from './onnx-graph';

/** An ONNX value with its own dims. They may be smaller than the tensor's shape, but broadcast to it. */
interface Compact {
  readonly value: OnnxValue;
  readonly dims: readonly number[];
}

/**
 * What the graph knows of one tfjs tensor. The value is kept in the smallest form that broadcasts to the shape: tfjs'
 * gradients multiply by `ones(shape)` and select against `zerosLike(x)`, which need not exist as arrays.
 */
export interface Recorded {
  readonly dtype: ElementType;
  readonly shape: readonly number[];
  /** Values known at record time (tf.scalar, tf.tensor, tf.range, ...), or null for what only a run knows. */
  readonly host: (() => HostData) | null;
  /** The one number that all elements are, where that is known at record time. */
  readonly uniform: number | null;
  compact: Compact | null;
  full: OnnxValue | null;
  /** Where the value is a sum of rows that nothing in the graph has asked for yet. */
  readonly rowSum?: RowSum;
  /** The same numbers as float32 where they were made as such (oneHot), so that casting back costs nothing. */
  asFloat: Recorded | null;
}

/** Rows that are added to rows of a tensor: to row `ids[i]` the i-th of the values. Ids outside of it are left out. */
export interface AddedRows {
  /** `[count, …]`, each like a row of the tensor. */
  readonly values: Recorded;
  /** `[count]` int32. */
  readonly ids: Recorded;
}

/** A tensor as a sum that is quicker to add up outside of the graph, one row after the other, where it only leaves the graph. */
export interface RowSum {
  /** Of the tensor's shape; `null` for zeros. */
  readonly dense: Recorded | null;
  readonly rows: readonly AddedRows[];
  /** The sum as a value of the graph, where it is needed there. */
  readonly make: () => OnnxValue;
}

/** One graph being recorded: turns tfjs values into ONNX values. */
export class Recording {
  readonly graph: OnnxGraph;

  /**
   * @param isForCpu matrix products are recorded as FusedMatMul, onnxruntime's own operator, which reads its operands transposed;
   *   other execution providers than the CPU's need not have it; and sums of rows are left to be added up outside. onnxruntime puts it in place of a product with transposes by itself, but
   *   not where it has merged the product with an addition before: that becomes a Gemm, which copies the other term, transposes in a
   *   pass of its own and multiplies more slowly.
   */
  constructor(
    name: string,
    readonly isForCpu = false,
  ) {
    this.graph = new OnnxGraph({ name });
  }

  /** A value that a node or an input of the graph gives. `dims` must broadcast to `shape`. */
  symbolic(value: OnnxValue, dtype: ElementType, shape: readonly number[], dims: readonly number[] = shape): Recorded {
    return { dtype, shape, host: null, uniform: null, compact: { value, dims }, full: null, asFloat: null };
  }

  /** A value that is made only where it is needed. */
  summed(rowSum: RowSum, shape: readonly number[]): Recorded {
    return { dtype: 'float32', shape, host: null, uniform: null, compact: null, full: null, rowSum, asFloat: null };
  }

  /** A value known now. It enters the graph only if it is used there. */
  constant(data: HostData, dtype: ElementType, shape: readonly number[]): Recorded {
    const first = data[0];
    if (first !== undefined && data.every((value) => Object.is(value, first))) return this.uniform(first, dtype, shape);
    return { dtype, shape, host: () => data, uniform: null, compact: null, full: null, asFloat: null };
  }

  /** A tensor with one number everywhere: a scalar in the graph, whatever its shape. */
  uniform(value: number, dtype: ElementType, shape: readonly number[]): Recorded {
    const host = (): HostData => hostData(dtype, sizeOf(shape)).fill(value);
    const compact = sizeOf(shape) === 0 ? null : { value: this.graph.constant(hostData(dtype, [value]), []), dims: [] };
    return { dtype, shape, host, uniform: value, compact, full: null, asFloat: null };
  }

  /** The smallest value that broadcasts to the tensor's shape: for operators that broadcast. */
  compact(tensor: Recorded): Compact {
    tensor.compact ??= {
      value: tensor.rowSum?.make() ?? this.graph.constant((tensor.host as () => HostData)(), tensor.shape),
      dims: tensor.shape,
    };
    return tensor.compact;
  }

  /** The value in the tensor's own shape: for every other operator. */
  full(tensor: Recorded): OnnxValue {
    if (tensor.full === null) {
      const { value, dims } = this.compact(tensor);
      tensor.full = sameShape(dims, tensor.shape)
        ? value
        : this.graph.op('Expand', [value, this.graph.int64(...tensor.shape)]);
    }
    return tensor.full;
  }

  /** An elementwise operator with numpy broadcasting over any number of operands. */
  elementwise(
    op: string,
    operands: readonly Recorded[],
    dtype: ElementType,
    attributes: Readonly<Record<string, OnnxAttribute>> = {},
  ): Recorded {
    const compacts = operands.map((operand) => this.compact(operand));
    const value = this.graph.op(
      op,
      compacts.map((compact) => compact.value),
      attributes,
    );
    const shape = operands.map((operand) => operand.shape).reduce(broadcastShapes);
    return this.symbolic(value, dtype, shape, compacts.map((compact) => compact.dims).reduce(broadcastShapes));
  }

  /** An operator on full values. */
  op(
    op: string,
    operands: readonly Recorded[],
    dtype: ElementType,
    shape: readonly number[],
    attributes: Readonly<Record<string, OnnxAttribute>> = {},
    ...constants: OnnxValue[]
  ): Recorded {
    const inputs = [...operands.map((operand) => this.full(operand)), ...constants];
    return this.symbolic(this.graph.op(op, inputs, attributes), dtype, shape);
  }

  scalar(value: number, dtype: ElementType): Recorded {
    return this.uniform(value, dtype, []);
  }

  cast(tensor: Recorded, dtype: ElementType): Recorded {
    if (tensor.dtype === dtype) return tensor;
    if (dtype === 'float32' && tensor.asFloat !== null) return tensor.asFloat;
    const { value, dims } = this.compact(tensor);
    return this.symbolic(this.graph.cast(value, dtype), dtype, tensor.shape, dims);
  }

  reshape(tensor: Recorded, shape: readonly number[]): Recorded {
    if (sameShape(tensor.shape, shape)) return tensor;
    // A constant keeps its values, and a uniform one its scalar.
    if (tensor.host !== null) {
      return { ...tensor, shape, compact: tensor.uniform === null ? null : tensor.compact, full: null, asFloat: null };
    }
    const reshaped = this.op('Reshape', [tensor], tensor.dtype, shape, { allowzero: 1 }, this.graph.int64(...shape));
    if (tensor.asFloat !== null) reshaped.asFloat = this.reshape(tensor.asFloat, shape);
    return reshaped;
  }

  transpose(tensor: Recorded, perm: readonly number[]): Recorded {
    if (perm.every((axis, index) => axis === index)) return tensor;
    return this.op('Transpose', [tensor], tensor.dtype, permute(tensor.shape, perm), { perm });
  }

  /** Where(condition, t, e); onnxruntime's operator knows no bool values. */
  select(condition: Recorded, t: Recorded, e: Recorded): Recorded {
    if (t.dtype !== 'bool') return this.elementwise('Where', [condition, t, e], t.dtype);
    const chosen = this.elementwise('And', [condition, t], 'bool');
    const otherwise = this.elementwise('And', [this.elementwise('Not', [condition], 'bool'), e], 'bool');
    return this.elementwise('Or', [chosen, otherwise], 'bool');
  }
}

export function sameShape(a: readonly number[], b: readonly number[]): boolean {
  return a.length === b.length && a.every((dim, index) => dim === b[index]);
}

export function permute(shape: readonly number[], perm: readonly number[]): number[] {
  return perm.map((axis) => dimAt(shape, axis));
}

/** The size of one axis. @throws RangeError for an axis that the shape does not have */
export function dimAt(shape: readonly number[], axis: number): number {
  const dim = shape[axis];
  if (dim === undefined) throw new RangeError(`shape [${shape.join()}] has no axis ${axis}`);
  return dim;
}

/** The numpy broadcast of two shapes. @throws RangeError when they do not broadcast */
export function broadcastShapes(a: readonly number[], b: readonly number[]): number[] {
  const rank = Math.max(a.length, b.length);
  return Array.from({ length: rank }, (_, index) => {
    const left = a[a.length - rank + index] ?? 1;
    const right = b[b.length - rank + index] ?? 1;
    if (left !== right && left !== 1 && right !== 1) {
      throw new RangeError(`shapes [${a.join()}] and [${b.join()}] do not broadcast`);
    }
    return left === 1 ? right : left;
  });
}
