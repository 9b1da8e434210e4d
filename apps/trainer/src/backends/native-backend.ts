import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import nodeUtil from 'node:util';
import * as tf from '@tensorflow/tfjs';
import type { TFJSBinding } from '@tensorflow/tfjs-node/dist/tfjs_binding';

export type NativePackage = 'tfjs-node' | 'tfjs-node-gpu';

export interface NativeSettings {
  /** Folder of `npm run tfjs-node:build`. */
  readonly bindingDir?: string;
  /** Products of float32 in 19 bits on NVIDIA's tensor cores: faster, and 1e-3 off. */
  readonly tf32?: boolean;
  /** Where CUDA keeps what it compiles for this GPU. */
  readonly cudaCacheDir?: string;
}

const TFJS_NAME = 'tensorflow';
const load = createRequire(__filename);

/**
 * Registers TensorFlow's C library as the tfjs backend `tensorflow`, with the kernels and the backend of the published package and
 * the binding that was found. The package's own entry does the same, for a binding inside of node_modules only.
 *
 * @returns the name of the tfjs backend
 * @throws Error when no binding is there or it does not load, or, for `tfjs-node-gpu`, when TensorFlow uses no GPU
 */
export function loadNativeBackend(name: NativePackage, threads: number, settings: NativeSettings = {}): string {
  // eslint-disable-next-line no-restricted-properties -- TensorFlow and CUDA read their settings there and nowhere else
  setEnvironment(process.env, threads, settings);
  const binding = load(findBinding(name, settings.bindingDir)) as TFJSBinding;
  if (name === 'tfjs-node-gpu' && !binding.isUsingGpuDevice()) {
    throw new Error(`TensorFlow ${binding.TF_Version} uses no GPU: none is visible, or its CUDA libraries do not load`);
  }
  return registerNativeBackend(name, binding);
}

/** @param binding the native one, or one that behaves alike */
export function registerNativeBackend(name: NativePackage, binding: TFJSBinding): string {
  restoreRemovedUtilities(nodeUtil as unknown as Record<string, unknown>);
  load(`@tensorflow/${name}/dist/register_all_kernels`);
  const { NodeJSKernelBackend } = load(
    `@tensorflow/${name}/dist/nodejs_kernel_backend`,
  ) as typeof import('@tensorflow/tfjs-node/dist/nodejs_kernel_backend');
  if (tf.findBackend(TFJS_NAME)) tf.removeBackend(TFJS_NAME);
  tf.registerBackend(TFJS_NAME, () => new NodeJSKernelBackend(binding, `@tensorflow/${name}`));
  return TFJS_NAME;
}

/**
 * Path of the binding: inside the package, where `npm rebuild` puts it, or where `npm run tfjs-node:build` does.
 *
 * @throws Error that says how to get one
 */
export function findBinding(name: NativePackage, bindingDir?: string): string {
  const file = join('lib', `napi-v${Math.min(8, Number(process.versions['napi']))}`, 'tfjs_binding.node');
  const folders = [
    ...(bindingDir === undefined ? [] : [join(bindingDir, name)]),
    dirname(load.resolve(`@tensorflow/${name}/package.json`)),
  ];
  const found = folders.map((folder) => join(folder, file)).find((path) => existsSync(path));
  if (found !== undefined) return found;
  const command =
    name === 'tfjs-node' ? 'npm run tfjs-node:build' : 'npm run tfjs-node:build -- --package tfjs-node-gpu';
  throw new Error(`its native module is not built (${command})`);
}

/** What TensorFlow and CUDA read from the environment when they are loaded, and nowhere else. What is set already stays. */
export function setEnvironment(
  environment: Record<string, string | undefined>,
  threads: number,
  { tf32 = false, cudaCacheDir }: NativeSettings,
): void {
  const defaults: Record<string, string | undefined> = {
    // Not every core: an engine on the same machine keeps its share.
    TF_NUM_INTRAOP_THREADS: String(threads),
    TF_NUM_INTEROP_THREADS: '1',
    TF_CPP_MIN_LOG_LEVEL: '2',
    // Sums on a GPU in a fixed order: a step that is done again gives the same bits.
    TF_DETERMINISTIC_OPS: '1',
    // TensorFlow takes the whole memory of the GPU otherwise.
    TF_FORCE_GPU_ALLOW_GROWTH: 'true',
    // Kernels for a GPU that is newer than the library are compiled at the first start, for many minutes; kept, only then.
    CUDA_CACHE_MAXSIZE: '4294967296',
    CUDA_CACHE_PATH: cudaCacheDir,
    NVIDIA_TF32_OVERRIDE: tf32 ? undefined : '0',
  };
  for (const [name, value] of Object.entries(defaults)) if (value !== undefined) environment[name] ??= value;
}

/** Two functions that tfjs-node 4.22 calls and that Node 23 removed. */
export function restoreRemovedUtilities(utilities: Record<string, unknown>): void {
  utilities['isNullOrUndefined'] ??= (value: unknown) => value === null || value === undefined;
  utilities['isArray'] ??= Array.isArray;
}
