import * as tf from '@tensorflow/tfjs';
import { type ElementType, type HostData, hostData } from './host-tensor';
import type { Kernel } from './kernels/kernel';
import { cpuKernels, kernels } from './kernels/kernel-table';
import { type Recorded, Recording } from './recording';

/** Name under which the backend is registered in tfjs. */
export const RECORDING_BACKEND = 'onnx';

interface Entry {
  readonly tensor: Recorded;
  refCount: number;
}

type KernelInput = tf.TensorInfo | null | undefined;

/** tfjs passes optional inputs as null or undefined. */
function isGiven(entry: [string, KernelInput]): entry is [string, tf.TensorInfo] {
  return entry[1] !== null && entry[1] !== undefined;
}

/**
 * A tfjs backend that computes nothing: a kernel adds a node to the recording that is open. Outside a recording it only
 * refuses, so it must not be chosen with tf.setBackend; `record` and CompiledFunction switch to it and back.
 */
export class RecordingBackend extends tf.KernelBackend {
  recording: Recording | null = null;
  private entries = new Map<object, Entry>();
  private outside = new WeakMap<object, Recorded>();

  /** What the open recording knows of an input of a kernel. */
  recorded(info: tf.TensorInfo): Recorded {
    return this.entries.get(info.dataId)?.tensor ?? this.captured(info);
  }

  add(tensor: Recorded): tf.TensorInfo {
    const dataId = {};
    this.entries.set(dataId, { tensor, refCount: 1 });
    return { dataId, shape: [...tensor.shape], dtype: tensor.dtype };
  }

  /** The result of a kernel; one that gives an input back shares its data, as tfjs expects of a clone. */
  addResult(result: Recorded, inputs: readonly tf.TensorInfo[]): tf.TensorInfo {
    const same = inputs.find(({ dataId }) => this.entries.get(dataId)?.tensor === result);
    if (same === undefined) return this.add(result);
    this.incRef(same.dataId);
    return { dataId: same.dataId, shape: [...result.shape], dtype: result.dtype };
  }

  /** Takes what tensors are left at the end of a recording out of tfjs' books, and forgets them. */
  close(): void {
    const left = [...this.entries];
    this.recording = null;
    for (const [dataId, { tensor, refCount }] of left) {
      const size = tensor.shape.reduce((product, dim) => product * dim, 1);
      const standIn = { dataId, dtype: tensor.dtype, shape: tensor.shape, size } as unknown as tf.Tensor;
      for (let count = 0; count < refCount; count++) tf.engine().disposeTensor(standIn);
    }
    this.entries = new Map();
    this.outside = new WeakMap();
  }

  override write(values: tf.BackendValues, shape: number[], dtype: tf.DataType): object {
    if (this.recording === null) throw new Error(NOT_RECORDING);
    return this.add(constant(this.recording, values, dtype, shape)).dataId;
  }

  override move(): void {
    throw new Error('a recording leaves the tensors of other backends where they are');
  }

  override readSync(dataId: object): tf.BackendValues {
    const tensor = this.entries.get(dataId)?.tensor;
    if (tensor === undefined) throw new Error('this tensor belongs to a recording that has ended');
    if (tensor.host === null) {
      throw new Error(
        `a recorded tensor (${tensor.dtype}[${tensor.shape.join()}]) has no values while its graph is being recorded; ` +
          'return it from the function and read the result of run(), or compute the value outside and pass it as an input',
      );
    }
    return tensor.host();
  }

  override async read(dataId: object): Promise<tf.BackendValues> {
    return this.readSync(dataId);
  }

  override disposeData(dataId: object, force = false): boolean {
    const entry = this.entries.get(dataId);
    if (entry === undefined) return true;
    entry.refCount--;
    if (!force && entry.refCount > 0) return false;
    this.entries.delete(dataId);
    return true;
  }

  override incRef(dataId: object): void {
    const entry = this.entries.get(dataId);
    if (entry !== undefined) entry.refCount++;
    // tf.variable(tensor of another backend): its owner counts.
    else
      Object.values(tf.engine().registry)
        .find((other) => other !== this && other.refCount(dataId) > 0)
        ?.incRef(dataId);
  }

  override refCount(dataId: object): number {
    return this.entries.get(dataId)?.refCount ?? 0;
  }

  override numDataIds(): number {
    return this.entries.size;
  }

  override memory(): { unreliable: boolean } {
    return { unreliable: true };
  }

  override floatPrecision(): 16 | 32 {
    return 32;
  }

  override epsilon(): number {
    return 1e-7;
  }

  override timerAvailable(): boolean {
    return false;
  }

  override dispose(): void {
    this.entries.clear();
  }

  /** A tensor of another backend is copied into the graph as a constant; a variable would go stale there. */
  private captured(info: tf.TensorInfo): Recorded {
    const known = this.outside.get(info.dataId);
    if (known !== undefined) return known;
    if (this.recording === null) throw new Error(NOT_RECORDING);
    if (info instanceof tf.Variable) {
      throw new Error(
        `variable "${info.name}" was made outside the recorded function; ` +
          'pass its values as an input, else the graph would keep the values of today',
      );
    }
    const tensor = constant(this.recording, tf.engine().readSync(info.dataId), info.dtype, info.shape);
    this.outside.set(info.dataId, tensor);
    return tensor;
  }
}

const NOT_RECORDING = `the ${RECORDING_BACKEND} backend computes nothing by itself; use it through CompiledFunction`;

function constant(
  recording: Recording,
  values: tf.BackendValues,
  dtype: tf.DataType,
  shape: readonly number[],
): Recorded {
  const type = elementType(dtype);
  // tfjs' cpu backend keeps some int32 tensors (oneHot) in a Float32Array.
  const exact = values.constructor === hostData(type, 0).constructor;
  return recording.constant(exact ? (values as HostData) : hostData(type, values as HostData), type, shape);
}

function elementType(dtype: tf.DataType): ElementType {
  if (dtype === 'float32' || dtype === 'int32' || dtype === 'bool') return dtype;
  throw new Error(`${dtype} tensors cannot be recorded, only float32, int32 and bool`);
}

let registered: RecordingBackend | null = null;

/**
 * Registers the backend with tfjs, with the lowest priority, so that tfjs never chooses it by itself. Registering again
 * does nothing. CompiledFunction does it on its own.
 */
export function registerRecordingBackend(): void {
  recordingBackend();
}

/** The registered backend; it is registered if need be. */
export function recordingBackend(): RecordingBackend {
  if (registered !== null && tf.engine().findBackendFactory(RECORDING_BACKEND) !== null) return registered;
  const instance = new RecordingBackend();
  tf.registerBackend(RECORDING_BACKEND, () => instance, 0);
  for (const [name, kernel] of Object.entries(kernels)) registerKernel(instance, name, kernel);
  registered = instance;
  return instance;
}

/** Whether tfjs finds the kernels that only graphs for the CPU may hold. Who would run one asks for it first. */
export function offerCpuKernels(isForCpu: boolean): void {
  const instance = recordingBackend();
  for (const [name, kernel] of Object.entries(cpuKernels)) {
    if (isForCpu) registerKernel(instance, name, kernel);
    else if (tf.getKernel(name, RECORDING_BACKEND) !== undefined) tf.unregisterKernel(name, RECORDING_BACKEND);
  }
}

function registerKernel(instance: RecordingBackend, kernelName: string, kernel: Kernel): void {
  if (tf.getKernel(kernelName, RECORDING_BACKEND) !== undefined) tf.unregisterKernel(kernelName, RECORDING_BACKEND);
  tf.registerKernel({
    kernelName,
    backendName: RECORDING_BACKEND,
    kernelFunc: ({ inputs, attrs }) => {
      const { recording } = instance;
      if (recording === null) throw new Error(NOT_RECORDING);
      const given = Object.entries(inputs as Record<string, KernelInput>).filter(isGiven);
      const recorded = Object.fromEntries(given.map(([input, info]) => [input, instance.recorded(info)]));
      const result = kernel(recording, recorded, attrs ?? {});
      const infos = given.map(([, info]) => info);
      if (Array.isArray(result)) return result.map((tensor) => instance.addResult(tensor, infos));
      return instance.addResult(result, infos);
    },
  });
}
