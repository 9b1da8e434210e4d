import { median } from './report';
import type { Product } from './sizes';

/** Time of a product is the median of so many, or of fewer where one takes long. */
const TRIES = 5;
const LONGEST_MS = 500;

/**
 * Milliseconds of onnxruntime for nothing but the given matrix products, each alone in its graph with its inputs at hand: the
 * machine's own rate at the sizes of a model.
 */
export async function matmulTime(products: readonly Product[], threads: number): Promise<{ ms: number }> {
  let ms = 0;
  for (const product of products) ms += product.count * (await timeOf(product, threads));
  return { ms };
}

async function timeOf({ batch, rows, inner, columns }: Product, threads: number): Promise<number> {
  const { OnnxGraph } = await import('@hindcast/tfjs-onnx');
  const { InferenceSession, Tensor } = await import('onnxruntime-node');
  const ones = (dims: readonly [number, number, number]) =>
    new Tensor('float32', new Float32Array(dims[0] * dims[1] * dims[2]).fill(1), batch === 1 ? dims.slice(1) : dims);
  const [left, right] = [ones([batch, rows, inner]), ones([batch, inner, columns])];
  const graph = new OnnxGraph();
  const a = graph.input('a', 'float32', left.dims);
  const b = graph.input('b', 'float32', right.dims);
  // A sum over the result is next to nothing beside it, and spares the copy of an output.
  const product = graph.op('MatMul', [a, b]);
  graph.output('y', graph.op('ReduceMax', [product], { keepdims: 0 }), 'float32', []);
  const session = await InferenceSession.create(graph.toBytes(), {
    executionProviders: ['cpu'],
    interOpNumThreads: 1,
    intraOpNumThreads: threads,
  });
  const times: number[] = [];
  while (times.length === 0 || (times.length < TRIES && sum(times) < LONGEST_MS)) {
    const started = performance.now();
    await session.run({ a: left, b: right });
    times.push(performance.now() - started);
  }
  await session.release();
  return median(times);
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
