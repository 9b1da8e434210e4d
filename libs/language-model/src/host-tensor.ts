/** A tensor in ordinary memory, row-major. 16-bit floats of a file are widened to float32, which is exact. */
export type HostTensor =
  | { readonly dtype: 'float32'; readonly shape: readonly number[]; readonly data: Float32Array }
  | { readonly dtype: 'int32'; readonly shape: readonly number[]; readonly data: Int32Array };

/** Number of elements of a shape; 1 for a scalar `[]`. */
export function sizeOf(shape: readonly number[]): number {
  return shape.reduce((product, dimension) => product * dimension, 1);
}

/** A float32 tensor; throws a RangeError when `data` has not the number of elements that `shape` says. */
export function float32Tensor(shape: readonly number[], data: Float32Array): HostTensor & { dtype: 'float32' } {
  if (data.length !== sizeOf(shape)) throw new RangeError(`${data.length} values for shape [${shape.join(', ')}]`);
  return { dtype: 'float32', shape, data };
}
