import * as tf from '@tensorflow/tfjs';
import { CompiledFunction } from '../compiled-function';
import { record } from '../record';
import { assertClose, noise, runCpu } from '../testing/compare';

type Inputs = Record<string, tf.Tensor>;

const inputs = { x: noise([5, 24], 1), gain: noise([24], 2) };
const epsilon = 1e-3;

const inOne = ({ x, gain }: Inputs): Inputs => {
  const [result, inverse] = tf.engine().runKernel('RmsNorm', { x: x!, gain: gain! }, { epsilon }) as tf.Tensor[];
  return { result: result!, inverse: inverse! };
};

const inParts = ({ x, gain }: Inputs): Inputs => {
  const inverse = tf.rsqrt(tf.add(tf.mean(tf.square(x!), -1, true), epsilon));
  return { result: tf.mul(tf.mul(x!, inverse), gain!), inverse };
};

beforeAll(async () => {
  await tf.setBackend('cpu');
});

it('a norm is one operation and gives what its parts give, also behind an addition', async () => {
  const behindSum =
    (fn: (inputs: Inputs) => Inputs) =>
    ({ x, gain }: Inputs): Inputs => {
      const sum = tf.add(x!, tf.square(x!));
      return { ...fn({ x: sum, gain: gain! }), sum };
    };
  for (const around of [(fn: typeof inOne) => fn, behindSum]) {
    const compiled = new CompiledFunction(around(inOne));
    assertClose(await compiled.run(inputs), await runCpu(around(inParts), inputs), 1e-6);
    await compiled.dispose();
  }
});

it('a gain of another width is refused', () => {
  expect(() => record('norm', inOne, { ...inputs, gain: noise([12], 2) }, true)).toThrow(
    'RmsNorm of shape [5,24] with a gain of shape [12]',
  );
});

it('the operation is not offered where the graph is not for the CPU', () => {
  expect(() => record('norm', inOne, inputs, false)).toThrow('kernel RmsNorm cannot be recorded');
});
