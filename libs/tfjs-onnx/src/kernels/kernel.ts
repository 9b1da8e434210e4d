import type { Recorded, Recording } from '../recording';

/** Inputs of a kernel by tfjs' names; ops on lists of tensors number them '0', '1', ... */
export type KernelInputs = Readonly<Record<string, Recorded>>;

/** Adds one tfjs kernel to a recording. */
export type Kernel = (recording: Recording, inputs: KernelInputs, attrs: object) => Recorded | Recorded[];

/** A kernel's required input. @throws Error when tfjs did not give it */
export function required(inputs: KernelInputs, name: string): Recorded {
  const input = inputs[name];
  if (input === undefined) throw new Error(`the kernel's input ${name} is missing`);
  return input;
}

/** Refuses element types for which the operator has no sound meaning, saying what to do. */
export function assertType(kernel: string, tensor: Recorded, ...allowed: Recorded['dtype'][]): void {
  if (allowed.includes(tensor.dtype)) return;
  throw new TypeError(
    `${kernel} of ${tensor.dtype} is not defined; cast to ${allowed.join(' or ')} with tf.cast first`,
  );
}
