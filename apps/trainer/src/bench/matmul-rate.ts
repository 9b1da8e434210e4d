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

async function timeOf({ rows, inner, columns }: Product, threads: number): Promise<number> {
  const { OnnxGraph } = await import('@hindcast/tfjs-onnx');
  const { InferenceSession, Tensor } = await import('onnxruntime-node');
  const ones = (dims: [number, number]) => new Tensor('float32', new Float32Array(dims[0] * dims[1]).fill(1), dims);
  const graph = new OnnxGraph();
  const a = graph.input('a', 'float32', [rows, inner]);
  const b = graph.input('b', 'float32', [inner, columns]);
  // A sum over the result is next to nothing beside it, and spares the copy of an output.
  const product = graph.op('MatMul', [a, b]);
  graph.output('y', graph.op('ReduceMax', [product], { keepdims: 0 }), 'float32', []);
  const session = await InferenceSession.create(graph.toBytes(), {
    executionProviders: ['cpu'],
    interOpNumThreads: 1,
    intraOpNumThreads: threads,
  });
  const feeds = { a: ones([rows, inner]), b: ones([inner, columns]) };
  let least = Infinity;
  for (let i = 0; i < TRIES; i++) {
    const started = performance.now();
    await session.run(feeds);
    least = Math.min(least, performance.now() - started);
  }
  await session.release();
  return least;
}
