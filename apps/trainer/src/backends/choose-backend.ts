import nodeUtil from 'node:util';
import { HindcastError } from '@hindcast/contracts';
import { float32Tensor } from '@hindcast/language-model';
import * as tf from '@tensorflow/tfjs';
import type { ComputeBackend } from '../core/compute-backend';
import { EagerBackend } from './eager-backend';
import { OnnxBackend } from './onnx-backend';

export const BACKENDS = ['tfjs-node-gpu', 'onnx', 'onnx-webgpu', 'tfjs-node', 'wasm', 'cpu'] as const;
export type BackendName = (typeof BACKENDS)[number];

/** Best first: `auto` takes the first one that loads. WebGPU is taken only when asked for: it also loads without a GPU. */
const AUTO: readonly BackendName[] = ['tfjs-node-gpu', 'onnx', 'tfjs-node', 'wasm', 'cpu'];

export interface ChosenBackend {
  readonly backend: ComputeBackend;
  /** Backends that come before it and why they do not load. */
  readonly unavailable: Readonly<Record<string, string>>;
}

/**
 * Loads the backend of that name, or, for `auto`, the best that loads.
 *
 * @param threads threads of one operator, where the backend can be told
 * @throws HindcastError `config-invalid` when a backend that was asked for does not load
 */
export async function chooseBackend(wanted: BackendName | 'auto', threads: number): Promise<ChosenBackend> {
  const unavailable: Record<string, string> = {};
  for (const name of wanted === 'auto' ? AUTO : [wanted]) {
    try {
      return { backend: await load(name, threads), unavailable };
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

async function load(name: BackendName, threads: number): Promise<ComputeBackend> {
  // TensorFlow.js advises to install another backend at the first use of its own; this is where that is decided.
  tf.enableProdMode();
  switch (name) {
    case 'onnx':
      return await loadOnnx(name, threads, ['cpu']);
    case 'onnx-webgpu':
      return await loadOnnx(name, threads, ['webgpu', 'cpu']);
    case 'tfjs-node-gpu':
    case 'tfjs-node':
      return await loadNative(name);
    case 'wasm':
      await import('@tensorflow/tfjs-backend-wasm');
      return await activate(name, 'wasm');
    case 'cpu':
      return await activate(name, 'cpu');
  }
}

async function loadOnnx(name: string, threads: number, executionProviders: readonly string[]): Promise<ComputeBackend> {
  const { CompiledFunction } = await import('@hindcast/tfjs-onnx');
  const backend = new OnnxBackend(name, CompiledFunction, { threads, executionProviders });
  // A provider that is missing is only noticed by the first graph.
  const trial = backend.compile('trial', ({ x }) => ({ y: tf.add(x!, 1) }), {});
  await trial({ x: float32Tensor([1], new Float32Array(1)) });
  return backend;
}

async function loadNative(name: 'tfjs-node-gpu' | 'tfjs-node'): Promise<ComputeBackend> {
  restoreRemovedUtilities();
  if (name === 'tfjs-node-gpu') await import('@tensorflow/tfjs-node-gpu');
  else await import('@tensorflow/tfjs-node');
  return await activate(name, 'tensorflow');
}

async function activate(name: BackendName, tfjsName: string): Promise<ComputeBackend> {
  if (!(await tf.setBackend(tfjsName))) throw new Error(`TensorFlow.js does not switch to ${tfjsName}`);
  await tf.ready();
  return new EagerBackend(name);
}

/** Two functions that tfjs-node 4.22 calls and that Node 23 removed. */
function restoreRemovedUtilities(): void {
  const legacy = nodeUtil as unknown as Record<string, unknown>;
  legacy['isNullOrUndefined'] ??= (value: unknown) => value === null || value === undefined;
  legacy['isArray'] ??= Array.isArray;
}

function firstLine(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split('\n', 1)[0]!;
}
