import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
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

  it.each(['tfjs-node', 'tfjs-node-gpu'] as const)(
    '%s that is not built is refused with the command that builds it',
    async (name) => {
      await expect(chooseBackend(name, 1, { bindingDir: '/nowhere' })).rejects.toMatchObject({
        code: 'config-invalid',
        message: expect.stringMatching(
          new RegExp(`^BACKEND=${name} does not load: .*npm run tfjs-node:build`),
        ) as string,
      });
    },
  );

  const provider = join(
    dirname(require.resolve('onnxruntime-node/package.json')),
    `bin/napi-v6/${process.platform}/${process.arch}/libonnxruntime_providers_cuda.so`,
  );
  // With the provider installed, whether it loads is a matter of the machine's GPU.
  (existsSync(provider) ? it.skip : it)(
    'onnx-cuda without its provider is refused by name, not computed on the CPU',
    async () => {
      await expect(chooseBackend('onnx-cuda', 1)).rejects.toMatchObject({
        code: 'config-invalid',
        message: expect.stringMatching(/^BACKEND=onnx-cuda does not load: .*Failed to load shared library/) as string,
      });
    },
  );

  it('two backends in one process keep to their own', async () => {
    const wasm = (await chooseBackend('wasm', 1)).backend;
    const cpu = (await chooseBackend('cpu', 1)).backend;
    const used: string[] = [];
    const [onWasm, onCpu] = [wasm, cpu].map((backend) =>
      backend.compile('which', ({ x }) => (used.push(tf.getBackend()), { y: tf.add(x!, 1) }), {}),
    ) as [ReturnType<typeof wasm.compile>, ReturnType<typeof wasm.compile>];
    for (const run of [onWasm, onCpu, onWasm]) expect([...(await run(inputs))['y']!.data]).toEqual([2, 3]);
    expect(used).toEqual(['wasm', 'cpu', 'wasm']);
    await Promise.all([wasm.dispose(), cpu.dispose()]);
  });
});
