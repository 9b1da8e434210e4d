import * as tf from '@tensorflow/tfjs';
import '@tensorflow/tfjs-backend-wasm';
import { CompiledFunction } from '@hindcast/tfjs-onnx';
import { candidateLogProbs } from './candidate-log-probs';
import type { HostTensor } from './host-tensor';
import { initLora } from './lora';
import { ids, largestDifference, madeWeights, smallConfig, toTensors } from './testing/models';
import { tokenLogProbsAndEntropies } from './token-log-probs';

const config = smallConfig;
const TOKENS = [
  [7, 0, 22, 7, 3],
  [19, 11, 5, 5, 14],
];
/** Two ids per position, one of them twice at one place. */
const CANDIDATES = [
  [
    [0, 4],
    [22, 9],
    [7, 7],
    [3, 1],
    [1, 20],
  ],
  [
    [11, 2],
    [5, 6],
    [5, 22],
    [14, 0],
    [2, 13],
  ],
];
const slopes = tf.tidy(() => Float32Array.from({ length: 20 }, (_, i) => Math.sin(1 + i)));

beforeAll(async () => {
  tf.enableProdMode();
  await tf.setBackend('cpu');
});

const candidates = (): tf.Tensor3D => tf.tensor3d(CANDIDATES, undefined, 'int32');

describe('candidateLogProbs', () => {
  it.each([{ logitChunk: 2 ** 24 }, { logitChunk: 70 }])(
    'is tokenLogProbs of each candidate, with its entropies, at %o',
    (options) => {
      tf.tidy(() => {
        const weights = toTensors(madeWeights(config));
        const got = candidateLogProbs(config, weights, ids(TOKENS), candidates(), options);
        for (const k of [0, 1]) {
          const targets = ids(CANDIDATES.map((row) => row.map((pair) => pair[k]!)));
          const { logProbs, entropies } = tokenLogProbsAndEntropies(config, weights, ids(TOKENS), targets, options);
          const column = tf.reshape(tf.slice(got.logProbs, [0, 0, k], [-1, -1, 1]), [2, 5]);
          expect(largestDifference(column.dataSync(), logProbs.dataSync())).toBeLessThan(1e-6);
          expect(largestDifference(got.entropies.dataSync(), entropies.dataSync())).toBeLessThan(1e-6);
        }
      });
    },
  );

  it.each(['lora', 'full'] as const)(
    '%s: has the gradients of the sum of its parts, one graph or many chunks',
    (mode) => {
      tf.tidy(() => {
        const base = toTensors(madeWeights(config));
        const adapter = toTensors(initLora(config, { rank: 2, alpha: 4, seed: 1 }));
        const trained = mode === 'lora' ? adapter : base;
        const names = Object.keys(trained);
        const options = (all: tf.Tensor[]) => {
          const weights = Object.fromEntries(names.map((name, i) => [name, all[i]!]));
          return mode === 'lora' ? { base, more: { lora: { weights, scale: 2 } } } : { base: weights, more: {} };
        };
        const weighted = (x: tf.Tensor, from: number): tf.Tensor =>
          tf.sum(tf.mul(x, tf.tensor(slopes.subarray(from, from + x.size), x.shape)));
        const together = (logitChunk: number) =>
          tf.grads((...all) => {
            const { base: weights, more } = options(all);
            const { logProbs, entropies } = candidateLogProbs(config, weights, ids(TOKENS), candidates(), {
              ...more,
              logitChunk,
            });
            return tf.add(weighted(logProbs, 0), weighted(entropies, 0)) as tf.Scalar;
          })(Object.values(trained));
        const apart = tf.grads((...all) => {
          const { base: weights, more } = options(all);
          const parts = [0, 1].map((k) =>
            tokenLogProbsAndEntropies(
              config,
              weights,
              ids(TOKENS),
              ids(CANDIDATES.map((row) => row.map((pair) => pair[k]!))),
              more,
            ),
          );
          const logProbs = tf.stack([parts[0]!.logProbs, parts[1]!.logProbs], 2);
          return tf.add(weighted(logProbs, 0), weighted(parts[0]!.entropies, 0)) as tf.Scalar;
        })(Object.values(trained));
        for (const logitChunk of [2 ** 24, 70])
          together(logitChunk).forEach((gradient, i) =>
            expect(largestDifference(gradient.dataSync(), apart[i]!.dataSync())).toBeLessThan(2e-5),
          );
      });
    },
  );

  it('gives the same numbers in a recorded graph and on wasm', async () => {
    const adapter = initLora(config, { rank: 2, alpha: 4, seed: 1 });
    const inputs: Record<string, HostTensor> = {
      ...Object.fromEntries(madeWeights(config)),
      ...Object.fromEntries(adapter),
      tokens: { dtype: 'int32', shape: [2, 5], data: Int32Array.from(TOKENS.flat()) },
      candidates: { dtype: 'int32', shape: [2, 5, 2], data: Int32Array.from(CANDIDATES.flat(2)) },
    };
    const names = [...adapter.keys()];
    const step = (tensors: Readonly<Record<string, tf.Tensor>>): Record<string, tf.Tensor> => {
      let kept: tf.Tensor | undefined;
      const grads = tf.grads((...all) => {
        const weights = Object.fromEntries(names.map((name, i) => [name, all[i]!]));
        const { logProbs, entropies } = candidateLogProbs(
          config,
          tensors,
          tensors['tokens'] as tf.Tensor2D,
          tensors['candidates'] as tf.Tensor3D,
          { logitChunk: 70, lora: { weights, scale: 2 } },
        );
        kept = tf.keep(logProbs.clone());
        return tf.add(tf.sum(tf.square(logProbs)), tf.sum(entropies)) as tf.Scalar;
      })(names.map((name) => tensors[name]!));
      return { logProbs: kept!, ...Object.fromEntries(names.map((name, i) => [name, grads[i]!])) };
    };
    const eager = async (backend: 'cpu' | 'wasm'): Promise<Record<string, ArrayLike<number>>> => {
      await tf.setBackend(backend);
      const tensors = toTensors(new Map(Object.entries(inputs)));
      return Object.fromEntries(Object.entries(step(tensors)).map(([name, tensor]) => [name, tensor.dataSync()]));
    };
    const expected = await eager('cpu');
    const onWasm = await eager('wasm');
    const graph = new CompiledFunction(step, { threads: 1 });
    const recorded = await graph.run(inputs);
    await graph.dispose();
    for (const [name, values] of Object.entries(expected)) {
      const scale = Math.max(1, ...Array.from(values, Math.abs));
      expect(largestDifference(recorded[name]!.data, values) / scale).toBeLessThan(2e-5);
      expect(largestDifference(onWasm[name]!, values) / scale).toBeLessThan(2e-5);
    }
  });
});
