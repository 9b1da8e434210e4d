import { dimAt } from '../recording';
import { assertType, type Kernel, required } from './kernel';

/**
 * x r · gain over the last axis with r = 1 / √(mean(x²) + ε): gives the result, like x, and r, `[…, 1]`. tfjs has no such operator; who has
 * this kernel may run it in place of seven.
 *
 * onnxruntime's SimplifiedLayerNormalization, which other execution providers than the CPU's need not have.
 */
const rmsNorm: Kernel = (recording, inputs, attrs) => {
  const x = required(inputs, 'x');
  const gain = required(inputs, 'gain');
  for (const tensor of [x, gain]) assertType('RmsNorm', tensor, 'float32');
  const last = x.shape.length - 1;
  if (gain.shape.length !== 1 || gain.shape[0] !== dimAt(x.shape, last))
    throw new RangeError(`RmsNorm of shape [${x.shape.join()}] with a gain of shape [${gain.shape.join()}]`);
  const { epsilon } = attrs as { readonly epsilon: number };
  const [result, inverse] = recording.graph.ops(
    'SimplifiedLayerNormalization',
    [recording.full(x), recording.full(gain)],
    2,
    { axis: -1, epsilon: { float: epsilon } },
  );
  return [
    recording.symbolic(result!, 'float32', x.shape),
    recording.symbolic(inverse!, 'float32', x.shape.with(last, 1)),
  ];
};

export const cpuNormKernels: Readonly<Record<string, Kernel>> = { RmsNorm: rmsNorm };
