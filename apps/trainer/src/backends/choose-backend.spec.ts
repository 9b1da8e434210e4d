import * as tf from '@tensorflow/tfjs';
import { float32Tensor } from '@hindcast/language-model';
import { chooseBackend } from './choose-backend';

const inputs = { x: float32Tensor([2], Float32Array.of(1, 2)) };
const fixed = { w: float32Tensor([2], Float32Array.of(10, 20)) };

describe('chooseBackend', () => {
  it.each(['onnx', 'wasm', 'cpu'] as const)('%s runs tensor functions', async (name) => {
    const { backend } = await chooseBackend(name, 1);
    const run = backend.compile('sum', ({ x, w }) => ({ y: tf.add(x!, w!) }), fixed);
    expect((await run(inputs))['y']).toEqual(float32Tensor([2], Float32Array.of(11, 22)));
    expect(backend.name).toBe(name);
    await backend.dispose();
  });

  it('auto takes the best that loads and says why the better ones do not', async () => {
    const { backend, unavailable } = await chooseBackend('auto', 1);
    // Where a GPU build of TensorFlow is installed it is the best.
    if (backend.name === 'tfjs-node-gpu') return;
    expect(backend.name).toBe('onnx');
    expect(unavailable['tfjs-node-gpu']).toMatch(/native|module|tfjs/i);
    await backend.dispose();
  });
});
