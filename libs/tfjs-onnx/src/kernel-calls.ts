import * as tf from '@tensorflow/tfjs';

/** Counts kernel calls until stopped. */
export interface KernelCalls {
  /** Calls so far of each registered backend that has kernels, 0 included. */
  byBackend(): Record<string, number>;
  /** Ends the counting and puts the kernels back. */
  stop(): void;
}

/**
 * Counts the kernel calls that tfjs makes from now on, per backend: proof of which backend did a computation. Kernels
 * that a backend calls inside another kernel do not count. Backends registered later are not seen.
 */
export function countKernelCalls(): KernelCalls {
  const counts: Record<string, number> = {};
  const wrapped: { original: tf.KernelConfig; counting: tf.KernelConfig }[] = [];
  for (const backendName of tf.engine().backendNames()) {
    counts[backendName] = 0;
    for (const original of tf.getKernelsForBackend(backendName)) {
      const kernelFunc: tf.KernelFunc = (params) => {
        counts[backendName] = (counts[backendName] as number) + 1;
        return original.kernelFunc(params);
      };
      const counting = { ...original, kernelFunc };
      replaceKernel(original, counting);
      wrapped.push({ original, counting });
    }
  }
  return {
    byBackend: () => ({ ...counts }),
    stop: () => {
      for (const { original, counting } of wrapped.splice(0)) {
        // Another count, or a new kernel of that name, may have come on top; it stays.
        if (tf.getKernel(counting.kernelName, counting.backendName) === counting) replaceKernel(counting, original);
      }
    },
  };
}

function replaceKernel(current: tf.KernelConfig, next: tf.KernelConfig): void {
  tf.unregisterKernel(current.kernelName, current.backendName);
  tf.registerKernel(next);
}
