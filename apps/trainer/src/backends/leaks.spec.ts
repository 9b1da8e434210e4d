import * as tf from '@tensorflow/tfjs';
import { float32Tensor } from '@hindcast/language-model';
import type { Tuning } from '../core/tuning';
import { loraTuning } from '../testing/fixtures';
import { BINDING_DIR, missingBinding } from '../testing/native-binding';
import { trainSmallPolicy } from '../testing/small-policy';
import { chooseBackend, type BackendName } from './choose-backend';

/** Leaks come one per step: a hundred steps show them as a thousand do. */
const STEPS = 40;
const LIMIT_MS = 300_000;
const TUNINGS: readonly Tuning[] = [loraTuning({ rank: 2, alpha: 4, dropout: 0.1 }), { kind: 'full' }];

const eager: readonly (readonly [BackendName, string | null])[] = [
  ['wasm', null],
  ['tfjs-node', missingBinding()],
];

for (const [name, missing] of eager) {
  const test = missing === null ? it : it.skip;
  const reason = missing === null ? '' : ` (skipped: ${missing})`;

  test(
    `D66: ${STEPS} steps on ${name} leave as many tensors and bytes as two${reason}`,
    async () => {
      const { backend } = await chooseBackend(name, 1, { bindingDir: BINDING_DIR });
      for (const tuning of TUNINGS) {
        const seen: { numTensors: number; numBytes: number }[] = [];
        await trainSmallPolicy(backend, tuning, STEPS, () => {
          const { numTensors, numBytes } = tf.memory();
          seen.push({ numTensors, numBytes });
        });
        expect(seen.at(-1)).toEqual(seen[1]);
        expect(seen).toHaveLength(STEPS);
      }
      await backend.dispose();
    },
    LIMIT_MS,
  );

  test(
    `D68: a backend on ${name} that is made and disposed of 50 times leaves nothing${reason}`,
    async () => {
      const { backend } = await chooseBackend(name, 1, { bindingDir: BINDING_DIR });
      await backend.dispose();
      const before = tf.memory();
      for (let i = 0; i < 50; i++) {
        const made = (await chooseBackend(name, 1, { bindingDir: BINDING_DIR })).backend;
        const weights = { w: float32Tensor([1000], new Float32Array(1000).fill(i)) };
        const run = made.compile('sum', ({ x, w }) => ({ y: tf.add(x!, w!) }), weights);
        const { y } = await run({ x: float32Tensor([1], Float32Array.of(1)) });
        expect(y!.data[999]).toBe(i + 1);
        await made.dispose();
      }
      const { numTensors, numBytes } = tf.memory();
      expect({ numTensors, numBytes }).toEqual({ numTensors: before.numTensors, numBytes: before.numBytes });
    },
    LIMIT_MS,
  );

  test(`fixed inputs are uploaded to ${name} once, others at every run${reason}`, async () => {
    const { backend } = await chooseBackend(name, 1, { bindingDir: BINDING_DIR });
    const fixed = { w: float32Tensor([3], Float32Array.of(1, 2, 3)) };
    const run = backend.compile('product', ({ x, w }) => ({ y: tf.mul(x!, w!) }), fixed);
    const again = backend.compile('difference', ({ x, w }) => ({ y: tf.sub(w!, x!) }), fixed);
    const before = tf.memory().numTensors;
    for (const x of [2, 3]) {
      const input = { x: float32Tensor([1], Float32Array.of(x)) };
      expect([...(await run(input))['y']!.data]).toEqual([x, 2 * x, 3 * x]);
      expect([...(await again(input))['y']!.data]).toEqual([1 - x, 2 - x, 3 - x]);
    }
    expect(tf.memory().numTensors).toBe(before + 1);
    await backend.dispose();
    expect(tf.memory().numTensors).toBe(before);
  });
}
