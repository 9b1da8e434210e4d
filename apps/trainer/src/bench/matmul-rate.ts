import { median } from './report';
import type { Product } from './sizes';

/** Time of a product is the median of so many, or of fewer where one takes long. */
const TRIES = 5;
const LONGEST_MS = 500;
/** Products in one run, so that starting it does not count. */
const IN_A_ROW = 4;

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
  const graph = new OnnxGraph();
  const feeds: Record<string, InstanceType<typeof Tensor>> = {};
  const input = (name: string, tensor: InstanceType<typeof Tensor>) => {
    feeds[name] = tensor;
    return graph.input(name, 'float32', tensor.dims);
  };
  const right = input('right', ones([batch, inner, columns]));
  // Of each result one number is taken: to read all of it, or to copy it out, takes as long as a small product.
  const corner = [graph.int64(0, 0, 0), graph.int64(1, 1, 1)];
  for (let i = 0; i < IN_A_ROW; i++) {
    const product = graph.op('MatMul', [input(`left${i}`, ones([batch, rows, inner])), right]);
    const cube = graph.op('Reshape', [product, graph.int64(batch, rows, columns)]);
    graph.output(`y${i}`, graph.op('Slice', [cube, ...corner]), 'float32', [1, 1, 1]);
  }
  const session = await InferenceSession.create(graph.toBytes(), {
    executionProviders: ['cpu'],
    interOpNumThreads: 1,
    intraOpNumThreads: threads,
  });
  const times: number[] = [];
  while (times.length === 0 || (times.length < TRIES && sum(times) < LONGEST_MS)) {
    const started = performance.now();
    await session.run(feeds);
    times.push((performance.now() - started) / IN_A_ROW);
  }
  await session.release();
  return median(times);
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
