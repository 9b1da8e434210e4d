import { HindcastError } from '@hindcast/contracts';
import * as tf from '@tensorflow/tfjs';
import type { ComputeBackend } from '../core/compute-backend';
import { EagerBackend } from './eager-backend';
import { loadNativeBackend, setEnvironment, type NativeSettings } from './native-backend';
import { OnnxBackend } from './onnx-backend';
import { assertParity } from './parity';
import { installWasmKernels } from './wasm/wasm-kernels';

export const BACKENDS = ['tfjs-node-gpu', 'onnx', 'onnx-cuda', 'onnx-webgpu', 'tfjs-node', 'wasm', 'cpu'] as const;
export type BackendName = (typeof BACKENDS)[number];

/**
 * Best first: `auto` takes the first one that loads. WebGPU is taken only when asked for: it also loads without a GPU; and so is CUDA
 * through onnxruntime, which says loudly what it misses.
 */
const AUTO: readonly BackendName[] = ['tfjs-node-gpu', 'onnx', 'tfjs-node', 'wasm', 'cpu'];

/** How far a backend may be off in the check at its start. */
const TOLERANCE = 1e-4;
const TF32_TOLERANCE = 2e-2;

export interface ChosenBackend {
  readonly backend: ComputeBackend;
  /** Backends that come before it and why they are not taken. */
  readonly unavailable: Readonly<Record<string, string>>;
}

/**
 * Loads the backend of that name, or, for `auto`, the best that loads. Each has to compute a small step right before it is
 * taken.
 *
 * @param threads threads of one operator, where the backend can be told
 * @throws HindcastError `config-invalid` when a backend that was asked for does not load, or computes wrong numbers
 */
export async function chooseBackend(
  wanted: BackendName | 'auto',
  threads: number,
  settings: NativeSettings = {},
): Promise<ChosenBackend> {
  const unavailable: Record<string, string> = {};
  for (const name of wanted === 'auto' ? AUTO : [wanted]) {
    try {
      return { backend: await loadChecked(name, threads, settings), unavailable };
    } catch (error) {
      unavailable[name] = firstLine(error);
      if (name === wanted) {
        throw new HindcastError('config-invalid', `BACKEND=${name} does not load: ${unavailable[name]}`, {
          cause: error,
        });
      }
    }
  }
  throw new HindcastError('config-invalid', `no backend loads: ${JSON.stringify(unavailable)}`);
}

async function loadChecked(name: BackendName, threads: number, settings: NativeSettings): Promise<ComputeBackend> {
  const backend = await load(name, threads, settings);
  try {
    const isTf32 = settings.tf32 && (name === 'tfjs-node-gpu' || name === 'onnx-cuda');
    await assertParity(backend, isTf32 ? TF32_TOLERANCE : TOLERANCE);
    return backend;
  } catch (error) {
    await backend.dispose();
    throw error;
  }
}

async function load(name: BackendName, threads: number, settings: NativeSettings): Promise<ComputeBackend> {
  // TensorFlow.js advises to install another backend at the first use of its own; this is where that is decided.
  tf.enableProdMode();
  switch (name) {
    case 'onnx':
      return await loadOnnx(name, threads, ['cpu']);
    case 'onnx-cuda':
      // eslint-disable-next-line no-restricted-properties -- CUDA reads its settings there and nowhere else
      setEnvironment(process.env, threads, settings);
      return await loadOnnx(name, threads, ['cuda', 'cpu']);
    case 'onnx-webgpu':
      return await loadOnnx(name, threads, ['webgpu', 'cpu']);
    case 'tfjs-node-gpu':
    case 'tfjs-node':
      return await activate(name, loadNativeBackend(name, threads, settings));
    case 'wasm': {
      await import('@tensorflow/tfjs-backend-wasm');
      installWasmKernels();
      return await activate(name, 'wasm');
    }
    case 'cpu':
      return await activate(name, 'cpu');
  }
}

async function loadOnnx(name: string, threads: number, executionProviders: readonly string[]): Promise<ComputeBackend> {
  const { CompiledFunction } = await import('@hindcast/tfjs-onnx');
  return new OnnxBackend(name, CompiledFunction, { threads, executionProviders });
}

async function activate(name: BackendName, tfjsName: string): Promise<ComputeBackend> {
  if (!(await tf.setBackend(tfjsName))) throw new Error(`TensorFlow.js does not switch to ${tfjsName}`);
  await tf.ready();
  return new EagerBackend(name, tfjsName);
}

function firstLine(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split('\n', 1)[0]!;
}
