import * as tf from '@tensorflow/tfjs';
import { type ElementType, hostData } from '../host-tensor';
import { type Kernel, required } from './kernel';

const fill: Kernel = (recording, _inputs, attrs) => {
  const { shape, value, dtype } = attrs as tf.FillAttrs;
  if (typeof value !== 'number') throw new TypeError('tf.fill with text cannot be recorded');
  return recording.uniform(value, dtype as ElementType, shape);
};

const range: Kernel = (recording, _inputs, attrs) => {
  const { start, stop, step, dtype } = attrs as tf.RangeAttrs;
  const isEmpty = start === stop || (start < stop && step < 0) || (stop < start && step > 1);
  const count = isEmpty ? 0 : Math.abs(Math.ceil((stop - start) / step));
  const values = Array.from({ length: count }, (_, index) => start + index * step);
  return recording.constant(hostData(dtype as ElementType, values), dtype as ElementType, [count]);
};

const linSpace: Kernel = (recording, _inputs, attrs) => {
  const { start, stop, num } = attrs as tf.LinSpaceAttrs;
  const step = num > 1 ? (stop - start) / (num - 1) : 0;
  return recording.constant(
    Float32Array.from({ length: num }, (_, index) => start + index * step),
    'float32',
    [num],
  );
};

function like(value: number): Kernel {
  return (recording, inputs) => {
    const { dtype, shape } = required(inputs, 'x');
    return recording.uniform(value, dtype, shape);
  };
}

export const creationKernels: Readonly<Record<string, Kernel>> = {
  Fill: fill,
  LinSpace: linSpace,
  OnesLike: like(1),
  Range: range,
  ZerosLike: like(0),
};
