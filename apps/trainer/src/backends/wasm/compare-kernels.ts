// `npm run bench:wasm`: how much faster our matrix products on WebAssembly are than those of the published backend.
import * as tf from '@tensorflow/tfjs';
import { Command } from 'commander';
import { chooseBackend } from '../choose-backend';
import { installWasmKernels, uninstallWasmKernels } from './wasm-kernels';

interface Product {
  readonly what: string;
  readonly a: number[];
  readonly b: number[];
  readonly transposeA?: boolean;
  readonly transposeB?: boolean;
}

/** Products of a step of 256 positions: layer, its two gradients, attention. */
const PRODUCTS: readonly Product[] = [
  { what: 'x · W', a: [256, 256], b: [256, 704] },
  { what: 'x · Wᵀ', a: [256, 256], b: [704, 256], transposeB: true },
  { what: 'xᵀ · g', a: [256, 256], b: [256, 704], transposeA: true },
  { what: 'q · kᵀ, 4 heads', a: [4, 256, 64], b: [4, 256, 64], transposeB: true },
  { what: 'p · v, 4 heads', a: [4, 256, 256], b: [4, 256, 64] },
];

const PRODUCTS_PER_TIME = 4;

const program = new Command('bench:wasm')
  .description(
    'Times matrix products by our kernels and by those of the published WebAssembly backend, one after the other.',
  )
  .option('--rounds <n>', 'rounds; the fastest counts', Number, 5)
  .option('--json', 'print JSON');

async function main(): Promise<void> {
  const { rounds, json } = program.parse().opts<{ rounds: number; json?: boolean }>();
  await chooseBackend('wasm', 1);
  const rows = PRODUCTS.map((product) => ({ product: product.what, ...compare(product, rounds) }));
  if (json) process.stdout.write(`${JSON.stringify({ rows })}\n`);
  else
    for (const { product, ours, published, ratio } of rows)
      process.stdout.write(
        `${product.padEnd(18)} ours ${ours.toFixed(2)} ms   published ${published.toFixed(2)} ms   ${ratio.toFixed(1)} ×\n`,
      );
}

/** Milliseconds per product of either, interleaved, and how many times faster ours is. */
function compare(product: Product, rounds: number): { ours: number; published: number; ratio: number } {
  const [a, b] = [tf.randomNormal(product.a), tf.randomNormal(product.b)];
  let [ours, published] = [Infinity, Infinity];
  for (let round = 0; round < rounds; round++) {
    installWasmKernels();
    ours = Math.min(ours, timeOf(a, b, product));
    uninstallWasmKernels();
    published = Math.min(published, timeOf(a, b, product));
  }
  installWasmKernels();
  tf.dispose([a, b]);
  return { ours, published, ratio: published / ours };
}

/** Milliseconds of processor time, which other work on the machine does not lengthen: all of it runs on one thread. */
function timeOf(a: tf.Tensor, b: tf.Tensor, { transposeA = false, transposeB = false }: Product): number {
  const before = process.cpuUsage();
  for (let i = 0; i < PRODUCTS_PER_TIME; i++) tf.matMul(a, b, transposeA, transposeB).dispose();
  return process.cpuUsage(before).user / 1000 / PRODUCTS_PER_TIME;
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
});
