import * as tf from '@tensorflow/tfjs';
import { InferenceSession, Tensor } from 'onnxruntime-node';
import { inputName, outputName, record } from '../record';
import type { HostData } from '../host-tensor';
import { assertClose, noise, runCpu } from '../testing/compare';

const inputs = { a: noise([2, 5, 3], 1), b: noise([2, 4, 3], 2), c: noise([2, 5, 4], 3) };
const fn = ({ a, b, c }: Record<string, tf.Tensor>): Record<string, tf.Tensor> => ({
  straight: tf.add(tf.matMul(a!, b!, false, true), c!),
  turned: tf.matMul(c!, a!, true),
});

beforeAll(async () => {
  await tf.setBackend('cpu');
});

const operators = (hasFusedMatMul: boolean): string =>
  Buffer.from(record('products', fn, inputs, hasFusedMatMul).model).toString('latin1');

it('products read their operands transposed where onnxruntime has the operator, with transposes where it has not', () => {
  expect(operators(true)).toContain('FusedMatMul');
  expect(operators(true)).not.toContain('Transpose');
  expect(operators(false)).not.toContain('FusedMatMul');
  expect(operators(false)).toContain('Transpose');
});

it.each([true, false])('and give the same numbers: %s', async (hasFusedMatMul) => {
  const session = await InferenceSession.create(record('products', fn, inputs, hasFusedMatMul).model);
  const feeds = Object.entries(inputs).map(([name, { data, shape }]) => [
    inputName(name),
    new Tensor('float32', data as Float32Array, shape),
  ]);
  const results = await session.run(Object.fromEntries(feeds) as Record<string, Tensor>);
  const expected = await runCpu(fn, inputs);
  const found = Object.entries(expected).map(([name, tensor]) => [
    name,
    { ...tensor, data: results[outputName(name)]!.data as HostData },
  ]);
  assertClose(Object.fromEntries(found) as typeof expected, expected, 1e-6);
  await session.release();
});
