import type { Product } from './sizes';

/** Time of a product is the least of so many. */
const TRIES = 5;

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
  let least = Infinity;
  for (let i = 0; i < TRIES; i++) {
    const started = performance.now();
    await session.run({ a: left, b: right });
    least = Math.min(least, performance.now() - started);
  }
  await session.release();
  return least;
}
