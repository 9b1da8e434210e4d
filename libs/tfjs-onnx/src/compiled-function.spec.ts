import * as tf from '@tensorflow/tfjs';
import '@tensorflow/tfjs-backend-wasm';
import { CompiledFunction } from './compiled-function';
import { host, ids, noise, runCpu, runOnnx, assertClose } from './testing/compare';
import { countKernelCalls } from './kernel-calls';
import { RECORDING_BACKEND, registerRecordingBackend } from './recording-backend';

const x = noise([2, 3], 1);
const w = noise([3, 4], 2);

type Inputs = Record<'x' | 'w', tf.Tensor>;

/** A small loss and its gradient. */
const step = ({ x, w }: Inputs): Record<'loss' | 'gradient', tf.Tensor> => {
  const { value, grads } = tf.valueAndGrads((weights: tf.Tensor) =>
    tf.mean(tf.square(tf.tanh(tf.matMul(x as tf.Tensor2D, weights as tf.Tensor2D)))),
  )([w]);
  return { loss: value, gradient: grads[0] as tf.Tensor };
};

beforeEach(async () => {
  await tf.setBackend('cpu');
});

describe('CompiledFunction', () => {
  it('records once per signature, whatever the order of the inputs', async () => {
    let calls = 0;
    const compiled = new CompiledFunction(
      (inputs: Inputs) => {
        calls++;
        return step(inputs);
      },
      { threads: 1 },
    );
    await compiled.run({ x, w });
    await compiled.run({ w: noise([3, 4], 5), x: noise([2, 3], 6) });
    expect(compiled.stats).toMatchObject({ signatures: 1, recordings: 1, runs: 2 });
    await compiled.run({ x: noise([5, 3], 1), w });
    await compiled.run({ x, w });
    expect(compiled.stats).toMatchObject({ signatures: 2, recordings: 2, runs: 4 });
    expect(calls).toBe(2);
    await compiled.dispose();
    expect(compiled.stats.signatures).toBe(0);
    await expect(compiled.run({ x, w })).rejects.toThrow('was disposed');
  });

  it('records once when the first runs overlap, and runs in progress survive dispose', async () => {
    const compiled = new CompiledFunction(step, { threads: 1 });
    const runs = Promise.all([1, 2, 3, 4].map((seed) => compiled.run({ x, w: noise([3, 4], seed) })));
    await new Promise(setImmediate);
    const disposed = compiled.dispose();
    const results = await runs;
    await disposed;
    expect(compiled.stats.recordings).toBe(1);
    for (const [index, result] of results.entries()) {
      assertClose(result, await runCpu(step as never, { x, w: noise([3, 4], index + 1) }), 1e-6);
    }
  });

  it('keeps as many graphs as it may, and forgets the one not used for longest', async () => {
    const compiled = new CompiledFunction(({ x }: Record<'x', tf.Tensor>) => ({ y: tf.square(x) }), {
      maxSignatures: 2,
      threads: 1,
    });
    const run = async (size: number): Promise<unknown> => compiled.run({ x: noise([size], 1) });
    await run(1);
    await run(2);
    await run(1);
    await run(3); // forgets 2
    await run(1);
    expect(compiled.stats).toMatchObject({ signatures: 2, recordings: 3 });
    await run(2);
    expect(compiled.stats).toMatchObject({ signatures: 2, recordings: 4 });
    await compiled.dispose();
  });

  it('reads the inputs in place at every run, so weights may change outside', async () => {
    const compiled = new CompiledFunction(({ x }: Record<'x', tf.Tensor>) => ({ y: tf.mul(x, 2) }), { threads: 1 });
    const tensor = host('float32', [2], [1, 2]);
    const first = await compiled.run({ x: tensor });
    tensor.data.set([10, 20]);
    const second = await compiled.run({ x: tensor });
    expect([...first.y.data, ...second.y.data]).toEqual([2, 4, 20, 40]);
    await compiled.dispose();
  });

  it('leaves the active backend, its tensors and the count of tensors as they were', async () => {
    const mine = tf.tensor([1, 2, 3]);
    const before = tf.memory();
    const compiled = new CompiledFunction(
      (inputs: Inputs) => {
        tf.keep(tf.square(inputs.x)); // kept tensors end with the recording too
        const variable = tf.variable(inputs.w);
        const { value, grads } = tf.variableGrads(
          () => tf.sum(tf.matMul(inputs.x as tf.Tensor2D, variable as never)),
          [variable],
        );
        return { value, gradient: grads[variable.name] as tf.Tensor, captured: tf.add(mine, 1) };
      },
      { threads: 1 },
    );
    const result = await compiled.run({ x, w });
    await compiled.dispose();
    expect(Array.from(result['captured']?.data ?? [])).toEqual([2, 3, 4]);
    expect(tf.getBackend()).toBe('cpu');
    expect(tf.memory()).toMatchObject({
      numTensors: before.numTensors,
      numDataBuffers: before.numDataBuffers,
      numBytes: before.numBytes,
    });
    expect(Object.keys(tf.engine().registeredVariables)).toEqual([]);
    expect(Array.from(mine.dataSync())).toEqual([1, 2, 3]);
    mine.dispose();
  });

  it.each<[string, (inputs: Inputs) => unknown, RegExp]>([
    [
      'an error of the function',
      () => {
        throw new Error('mine');
      },
      /^mine$/,
    ],
    [
      'an error inside a gradient',
      ({ x }) =>
        tf.grad((x) => {
          tf.square(x);
          throw new Error('inner');
        })(x),
      /^inner$/,
    ],
    [
      'reading a recorded tensor',
      ({ x }) => ({ y: tf.scalar(tf.sum(x).dataSync()[0] as number) }),
      /has no values while its graph is being recorded; return it from the function/,
    ],
    [
      'a kernel that ONNX has not',
      ({ x }) => ({ y: tf.topk(x, 2).values }),
      /kernel TopK cannot be recorded as ONNX; compose it/,
    ],
    ['a promise', () => Promise.resolve({}), /must return an object of tensors, synchronously/],
    ['no tensor', () => ({ y: 3 }), /output "y" of the recorded function is not a tensor/],
    [
      'a gradient of a broadcast batched product',
      ({ x, w }) => tf.grad((w) => tf.matMul(tf.reshape(x, [1, 2, 3]).tile([2, 1, 1]), w as never))(w),
      /gradient/i,
    ],
  ])('%s is reported, and leaves nothing behind', async (_name, fn, message) => {
    const before = tf.memory().numTensors;
    const compiled = new CompiledFunction(fn as typeof step, { threads: 1 });
    await expect(compiled.run({ x, w })).rejects.toThrow(message);
    expect(compiled.stats).toMatchObject({ signatures: 0, recordings: 0, runs: 0 });
    expect(tf.getBackend()).toBe('cpu');
    expect(tf.memory().numTensors).toBe(before);
    // The engine works on, with gradients.
    const square = tf.tidy(
      () =>
        tf
          .grad((x) => tf.square(x))(tf.scalar(3))
          .dataSync()[0],
    );
    expect(square).toBe(6);
  });

  it('refuses a variable of outside, whose values would go stale', async () => {
    const variable = tf.variable(tf.scalar(2), true, 'temperature');
    const compiled = new CompiledFunction(({ x }: Inputs) => ({ y: tf.mul(x, variable) }));
    await expect(compiled.run({ x, w })).rejects.toThrow('variable "temperature" was made outside');
    expect(variable.dataSync()[0]).toBe(2);
    variable.dispose();
  });

  it('works beside wasm', async () => {
    await tf.setBackend('wasm');
    const compiled = new CompiledFunction(step, { threads: 1 });
    const result = await compiled.run({ x, w });
    expect(tf.getBackend()).toBe('wasm');
    expect(tf.tidy(() => tf.square(tf.scalar(3)).dataSync()[0])).toBe(9);
    assertClose(result, await runCpu(step as never, { x, w }), 1e-6);
    await compiled.dispose();
  });

  it('reports an execution provider that is not there, and keeps nothing', async () => {
    const compiled = new CompiledFunction(step, { executionProviders: ['abacus'] });
    await expect(compiled.run({ x, w })).rejects.toThrow('abacus');
    expect(compiled.stats.signatures).toBe(0);
    await compiled.dispose();
  });

  it('refuses inputs that contradict themselves', async () => {
    const compiled = new CompiledFunction(step);
    const asInt = { ...x, data: new Int32Array(6) };
    await expect(compiled.run({ x: asInt, w })).rejects.toThrow(
      'input "x" is float32, so its data must be a Float32Array',
    );
    const short = { ...x, shape: [2, 2] };
    await expect(compiled.run({ x: short, w })).rejects.toThrow('input "x" has 6 elements, its shape [2,2] 4');
  });

  it('may be called by a function being recorded, and runs after it', async () => {
    const inner = new CompiledFunction(({ x }: Record<'x', tf.Tensor>) => ({ y: x }));
    let result: Promise<unknown> = Promise.resolve();
    const outer = new CompiledFunction(({ x }: Record<'x', tf.Tensor>) => {
      result = inner.run({ x: noise([1], 1) });
      return { y: x };
    });
    await outer.run({ x });
    await result; // ran after the outer recording, on values of its own
    await Promise.all([inner.dispose(), outer.dispose()]);
  });

  it('values known while recording can be read', async () => {
    const { y } = await runOnnx(({ x }) => ({ y: tf.mul(x!, tf.range(1, 3).dataSync()[1] as number) }), { x });
    expect(y?.data[0]).toBe((x.data[0] as number) * 2);
  });
});

describe('the recording backend', () => {
  it('computes nothing outside of a recording, and says so', async () => {
    registerRecordingBackend();
    registerRecordingBackend();
    await tf.setBackend(RECORDING_BACKEND);
    expect(() => tf.scalar(1)).toThrow('use it through CompiledFunction');
    await tf.setBackend('cpu');
  });
});

describe('countKernelCalls', () => {
  it('shows that neither cpu nor wasm kernels are called by a training step', async () => {
    const compiled = new CompiledFunction(step, { threads: 1 });
    const calls = countKernelCalls();
    try {
      await compiled.run({ x, w });
      const recorded = calls.byBackend();
      expect(recorded).toMatchObject({ cpu: 0, wasm: 0 });
      expect(recorded[RECORDING_BACKEND]).toBeGreaterThan(10);
      await compiled.run({ x, w });
      expect(calls.byBackend()).toEqual(recorded);
      await runCpu(step as never, { x, w });
      expect(calls.byBackend()['cpu']).toBeGreaterThan(10);
    } finally {
      calls.stop();
      await compiled.dispose();
    }
  });

  it('puts the kernels back, also when counts overlap', () => {
    const original = tf.getKernel('Square', 'cpu');
    const first = countKernelCalls();
    const second = countKernelCalls();
    tf.tidy(() => tf.square(2));
    expect([first.byBackend()['cpu'], second.byBackend()['cpu']]).toEqual([1, 1]);
    second.stop();
    tf.tidy(() => tf.square(2));
    expect([first.byBackend()['cpu'], second.byBackend()['cpu']]).toEqual([2, 1]);
    first.stop();
    expect(tf.getKernel('Square', 'cpu')).toBe(original);
  });
});

describe('threads', () => {
  // The gradient of gather sums rows that share an index: the place where a scatter races.
  const cases = [
    { vocabulary: 64, tokens: 512, why: 'dense: every id occurs often' },
    { vocabulary: 4096, tokens: 256, why: 'sparse: most ids do not occur' },
  ];
  it.each(cases)('give the same bits 200 times ($why)', async ({ vocabulary, tokens }) => {
    const width = 32;
    const fn = ({ table, token, weight }: Record<string, tf.Tensor>): Record<string, tf.Tensor> => ({
      gradient: tf.grad((table) => tf.sum(tf.mul(tf.tanh(tf.gather(table, token as tf.Tensor1D)), weight!)))(table!),
    });
    const inputs = {
      table: noise([vocabulary, width], 1),
      token: ids([tokens], 50, 2),
      weight: noise([tokens, width], 3),
    };
    const compiled = new CompiledFunction(fn, { threads: 4 });
    const first = (await compiled.run(inputs))['gradient']?.data as Float32Array;
    const expected = new Float64Array(vocabulary * width);
    inputs.token.data.forEach((id, row) => {
      for (let column = 0; column < width; column++) {
        const value = Math.tanh(inputs.table.data[id * width + column] as number);
        const slot = id * width + column;
        expected[slot] = expected[slot]! + (1 - value * value) * inputs.weight.data[row * width + column]!;
      }
    });
    const worst = first.reduce((most, value, index) => Math.max(most, Math.abs(value - expected[index]!)), 0);
    expect(worst).toBeLessThan(1e-5);
    let differing = 0;
    for (let run = 0; run < 200; run++) {
      const again = (await compiled.run(inputs))['gradient']?.data as Float32Array;
      if (Buffer.compare(Buffer.from(again.buffer), Buffer.from(first.buffer)) !== 0) differing++;
    }
    expect(differing).toBe(0);
    await compiled.dispose();
  });
});
