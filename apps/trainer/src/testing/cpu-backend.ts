import * as tf from '@tensorflow/tfjs';

/** Runs a spec's tensor ops on TensorFlow.js' own CPU kernels, without its advice to install another backend. */
export async function useCpuBackend(): Promise<void> {
  tf.enableProdMode();
  await tf.setBackend('cpu');
}
