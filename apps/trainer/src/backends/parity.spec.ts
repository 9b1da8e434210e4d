import { float32Tensor } from '@hindcast/language-model';
import * as tf from '@tensorflow/tfjs';
import type { ComputeBackend } from '../core/compute-backend';
import { chooseBackend } from './choose-backend';
import { assertParity, parityNumbers } from './parity';
import { PARITY_NUMBERS } from './parity-numbers';

/** The backend, with one output of one function changed. */
function broken(backend: ComputeBackend, output: string, factor: number): ComputeBackend {
  return {
    name: 'crooked',
    dispose: () => Promise.resolve(),
    compile: (name, fn, fixed) => {
      const run = backend.compile(name, fn, fixed);
      return async (inputs) => {
        const outputs = await run(inputs);
        const { shape, data } = outputs[output]!;
        return {
          ...outputs,
          [output]: float32Tensor(
            shape,
            Float32Array.from(data, (x) => x * factor),
          ),
        };
      };
    },
  };
}

describe('the check at the start', () => {
  it.each(['cpu', 'onnx', 'wasm'] as const)('%s computes what PyTorch computes in float64', async (name) => {
    const { backend } = await chooseBackend(name, 1);
    const numbers = await parityNumbers(backend);
    expect(Object.keys(numbers).sort()).toEqual(Object.keys(PARITY_NUMBERS).sort());
    for (const [key, right] of Object.entries(PARITY_NUMBERS)) {
      expect(Math.abs(numbers[key]! - right)).toBeLessThan(2e-5 * (1 + Math.abs(right)));
    }
    await backend.dispose();
  });

  it.each([
    { output: 'loss', factor: 1.001, why: 'a loss' },
    { output: 'model.layers.0.self_attn.k_norm.weight', factor: 1.001, why: 'a gradient' },
    { output: 'model.norm.weight', factor: NaN, why: 'a gradient' },
  ])('refuses by name a backend whose $output is $factor times what it should be', async ({ output, factor, why }) => {
    await tf.setBackend('cpu');
    const { backend } = await chooseBackend('cpu', 1);
    const refusal = assertParity(broken(backend, output, factor), 1e-4);
    await expect(refusal).rejects.toMatchObject({
      code: 'config-invalid',
      message: expect.stringMatching(new RegExp(`^crooked computes wrong numbers: ${why}`)) as string,
    });
  });
});
