/** Element types that both tfjs and this library know. */
export type ElementType = 'float32' | 'int32' | 'bool';

/** Values in row-major order; `bool` is a Uint8Array of 0 and 1. */
export type HostData = Float32Array | Int32Array | Uint8Array;

/** A tensor in this process's memory. */
export interface HostTensor {
  readonly dtype: ElementType;
  readonly shape: readonly number[];
  readonly data: HostData;
}

/** Number of elements of a shape. */
export function sizeOf(shape: readonly number[]): number {
  return shape.reduce((product, dim) => product * dim, 1);
}

/** An array of the element type's class. */
export function hostData(dtype: ElementType, values: number | ArrayLike<number>): HostData {
  const from = typeof values === 'number' ? { length: values } : values;
  const ArrayClass = arrayClass(dtype);
  return typeof values === 'number' ? new ArrayClass(values) : ArrayClass.from(from);
}

/**
 * Refuses a tensor whose data is not what its dtype and shape say.
 * @throws TypeError, RangeError
 */
export function assertHostTensor(name: string, { dtype, shape, data }: HostTensor): void {
  const ArrayClass = arrayClass(dtype);
  if (!(data instanceof ArrayClass))
    throw new TypeError(`input "${name}" is ${dtype}, so its data must be a ${ArrayClass.name}`);
  if (data.length !== sizeOf(shape)) {
    throw new RangeError(`input "${name}" has ${data.length} elements, its shape [${shape.join()}] ${sizeOf(shape)}`);
  }
}

function arrayClass(dtype: ElementType): typeof Float32Array | typeof Int32Array | typeof Uint8Array {
  if (dtype === 'float32') return Float32Array;
  return dtype === 'int32' ? Int32Array : Uint8Array;
}
