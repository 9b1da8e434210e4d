import * as tf from '@tensorflow/tfjs';
import { CompiledFunction, type CompileOptions } from '../compiled-function';
import { type ElementType, type HostData, hostData, type HostTensor, sizeOf } from '../host-tensor';

type Tensors = Record<string, tf.Tensor>;

// Keeps the cpu backend from advertising tfjs-node.
tf.enableProdMode();

export function host(dtype: ElementType, shape: readonly number[], values: ArrayLike<number>): HostTensor {
  return { dtype, shape, data: hostData(dtype, values) };
}

/** Reproducible numbers in −1..1. */
export function noise(shape: readonly number[], seed: number, scale = 1): HostTensor {
  let state = seed >>> 0;
  const values = Array.from({ length: sizeOf(shape) }, () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return ((state >>> 8) / 2 ** 23 - 1) * scale;
  });
  return host('float32', shape, values);
}

/** Token ids 0..size−1. */
export function ids(shape: readonly number[], size: number, seed: number): HostTensor {
  return host(
    'int32',
    shape,
    Array.from(noise(shape, seed).data, (value) => Math.floor(((value + 1) / 2) * size)),
  );
}

export async function runOnnx(
  fn: (inputs: Tensors) => Tensors,
  inputs: Record<string, HostTensor>,
  options: CompileOptions = { threads: 1 },
): Promise<Record<string, HostTensor>> {
  const compiled = new CompiledFunction(fn, options);
  try {
    return await compiled.run(inputs);
  } finally {
    await compiled.dispose();
  }
}

export async function runCpu(
  fn: (inputs: Tensors) => Tensors,
  inputs: Record<string, HostTensor>,
): Promise<Record<string, HostTensor>> {
  await tf.setBackend('cpu');
  const outputs: Record<string, HostTensor> = {};
  tf.tidy(() => {
    const tensors = Object.entries(inputs).map(
      ([name, { dtype, shape, data }]) => [name, tf.tensor(data.slice(), [...shape], dtype)] as const,
    );
    for (const [name, tensor] of Object.entries(fn(Object.fromEntries(tensors)))) {
      const data = tensor.dataSync() as HostData;
      outputs[name] = { dtype: tensor.dtype as ElementType, shape: tensor.shape, data: data.slice() };
    }
  });
  return outputs;
}

/** Largest difference, relative to the largest magnitude (at least 1); Infinity where one is NaN and the other not. */
export function difference(actual: HostTensor, expected: HostTensor): number {
  let scale = 1;
  let worst = 0;
  expected.data.forEach((value, index) => {
    const got = actual.data[index] as number;
    if (Object.is(value, got) || value === got) return;
    if (Number.isFinite(value)) scale = Math.max(scale, Math.abs(value));
    worst = Math.max(worst, Number.isFinite(value) && Number.isFinite(got) ? Math.abs(value - got) : Infinity);
  });
  return worst / scale;
}

/** Throws unless both have the same names, dtypes and shapes, and values within the tolerance. */
export function assertClose(
  actual: Record<string, HostTensor>,
  expected: Record<string, HostTensor>,
  tolerance: number,
): void {
  const shapes = (tensors: Record<string, HostTensor>): string[] =>
    Object.entries(tensors).map(([name, { dtype, shape }]) => `${name}: ${dtype}[${shape.join()}]`);
  expect(shapes(actual)).toEqual(shapes(expected));
  for (const [name, tensor] of Object.entries(expected)) {
    const worst = difference(actual[name] as HostTensor, tensor);
    if (!(worst <= tolerance)) {
      const values = [actual[name] as HostTensor, tensor].map(({ data }) => Array.from(data.slice(0, 24)).join(' '));
      throw new Error(`${name} differs by ${worst}:\n${values.join('\n')}`);
    }
  }
}
