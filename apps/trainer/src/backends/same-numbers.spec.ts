import type { Tuning } from '../core/tuning';
import { loraTuning } from '../testing/fixtures';
import { BINDING_DIR, missingBinding } from '../testing/native-binding';
import {
  largestDifference,
  SMALL_LEARNING_RATE,
  smallWeights,
  trainSmallPolicy,
  type SmallTraining,
} from '../testing/small-policy';
import { chooseBackend, type BackendName } from './choose-backend';

const STEPS = 3;
const TOLERANCE = 1e-5;
/** The cpu backend takes most of it. */
const LIMIT_MS = 120_000;

async function train(name: BackendName, tuning: Tuning): Promise<SmallTraining> {
  const { backend } = await chooseBackend(name, 1, { bindingDir: BINDING_DIR });
  const trained = await trainSmallPolicy(backend, tuning, STEPS);
  await backend.dispose();
  return trained;
}

const expected = new Map<Tuning['kind'], Promise<SmallTraining>>();
function onCpu(tuning: Tuning): Promise<SmallTraining> {
  if (!expected.has(tuning.kind)) expected.set(tuning.kind, train('cpu', tuning));
  return expected.get(tuning.kind)!;
}

const losses = ({ metrics }: SmallTraining): number[] =>
  metrics.flatMap((step) => [step['loss/policy']!, step['loss/kl']!, step['loss/entropy']!]);

describe.each<Tuning>([loraTuning({ rank: 4, alpha: 8, dropout: 0.1 }), { kind: 'full' }])(
  'three steps, $kind tuning',
  (tuning) => {
    const backends: readonly (readonly [BackendName, string | null])[] = [
      ['onnx', null],
      ['wasm', null],
      ['tfjs-node', missingBinding()],
    ];
    for (const [name, missing] of backends) {
      const title = `${name} gives the losses and weights of cpu within ${TOLERANCE}`;
      (missing === null ? it : it.skip)(
        missing === null ? title : `${title} (skipped: ${missing})`,
        async () => {
          const [right, found] = [await onCpu(tuning), await train(name, tuning)];
          expect(losses(found)).toHaveLength(3 * STEPS);
          expect(largestDifference(losses(found), losses(right))).toBeLessThan(TOLERANCE);
          expect([...found.weights.keys()]).toEqual([...right.weights.keys()]);
          for (const [key, { data }] of found.weights) {
            expect([key, largestDifference(data, right.weights.get(key)!.data) < TOLERANCE]).toEqual([key, true]);
            if (tuning.kind === 'lora') continue;
            // Adam moves what has a gradient by about a learning rate per step.
            expect(largestDifference(data, smallWeights.get(key)!.data)).toBeGreaterThan(SMALL_LEARNING_RATE);
          }
        },
        LIMIT_MS,
      );
    }
  },
);
