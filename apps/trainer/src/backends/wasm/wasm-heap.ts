import { HindcastError } from '@hindcast/contracts';
import type { DataId, TensorInfo } from '@tensorflow/tfjs';
import type { BackendWasm } from '@tensorflow/tfjs-backend-wasm';

/** C function of the wasm module: ids of registered tensors, their shapes as bytes of int32, transposes, id of the result. */
type MatMul = (
  ...args: [
    a: number,
    aShape: Uint8Array,
    aRank: number,
    b: number,
    bShape: Uint8Array,
    bRank: number,
    transposeA: number,
    transposeB: number,
    out: number,
  ]
) => void;

/** What BackendWasm and its module have without declaring it. */
interface Internals {
  dataIdNextNumber: number;
  readonly wasm: {
    readonly HEAPU8: Uint8Array;
    readonly tfjs: {
      registerTensor(id: number, size: number, offset: number): void;
      disposeData(id: number): void;
    };
    _malloc(bytes: number): number;
    _free(offset: number): void;
    cwrap(name: string, result: null, args: readonly string[]): MatMul;
  };
}

const FLOAT_BYTES = 4;
const ADDRESS_SPACE = 2 ** 32;
/** More than malloc adds to a size. Bytes. */
const ROUNDING = 2 ** 20;
const heaps = new WeakMap<BackendWasm, WasmHeap>();

/** Memory of the wasm backend: tensors of other kernels, views into them, and room of its own. Offsets in bytes. */
export class WasmHeap {
  private readonly rooms = new Map<string, { offset: number; floats: number }>();
  private readonly internals: Internals;
  private readonly matMul: MatMul;

  private constructor(readonly backend: BackendWasm) {
    this.internals = backend as unknown as Internals;
    const { wasm } = this.internals;
    this.matMul = wasm.cwrap('BatchMatMul', null, [
      'number',
      'array',
      'number',
      'number',
      'array',
      'number',
      'number',
      'number',
      'number',
    ]);
    // malloc answers 0 where nothing is left, and takes a size modulo 4 GiB; the backend would write its tensor there. A heap that would
    // have to grow by 2 GiB or more beyond the address space it takes to be shrunk, and gives out what it does not have.
    const malloc = wasm._malloc.bind(wasm);
    wasm._malloc = (bytes) => {
      const isSafe = bytes < ADDRESS_SPACE / 2 || bytes <= ADDRESS_SPACE - wasm.HEAPU8.length - ROUNDING;
      const offset = isSafe ? malloc(bytes) : 0;
      if (offset !== 0 || bytes === 0) return offset;
      const advice = 'lower TOKEN_BUDGET or take BACKEND=onnx';
      throw new HindcastError(
        'config-invalid',
        `WebAssembly has no room for ${bytes} more bytes, its limit is 4 GiB: ${advice}`,
      );
    };
  }

  static of(backend: unknown): WasmHeap {
    const wasm = backend as BackendWasm;
    let heap = heaps.get(wasm);
    if (!heap) heaps.set(wasm, (heap = new WasmHeap(wasm)));
    return heap;
  }

  offsetOf({ dataId }: { readonly dataId: DataId }): number {
    return this.backend.getMemoryOffset(dataId);
  }

  /** Values in place. Any allocation may move the memory: take them after the last one. */
  floats(offset: number, size: number): Float32Array {
    return new Float32Array(this.internals.wasm.HEAPU8.buffer, offset, size);
  }

  /** Offset of room that is kept for the next call of that name, for at least so many floats. */
  room(name: string, floats: number): number {
    const kept = this.rooms.get(name);
    if (kept && kept.floats >= floats) return kept.offset;
    if (kept) this.internals.wasm._free(kept.offset);
    this.rooms.delete(name);
    const offset = this.internals.wasm._malloc(floats * FLOAT_BYTES) >>> 0;
    this.rooms.set(name, { offset, floats });
    return offset;
  }

  /**
   * `out[M, N] = a[M, K] · b[K, N]` by XNNPACK, each matrix given by its offset, or `b` as a whole tensor. The module keeps what it
   * packed of a tensor until that is disposed of, so that the next product with it is faster.
   */
  multiply(a: number, b: number | TensorInfo, out: number, [m, k, n]: readonly [number, number, number]): void {
    const views = [this.register(a, m * k), this.register(out, m * n)] as const;
    const view = typeof b === 'number' ? this.register(b, k * n) : null;
    const right = view ?? this.backend.dataIdMap.get((b as TensorInfo).dataId).id;
    this.matMul(views[0], bytesOf([1, m, k]), 3, right, bytesOf([1, k, n]), 3, 0, 0, views[1]);
    for (const id of view === null ? views : [...views, view]) this.internals.wasm.tfjs.disposeData(id);
  }

  private register(offset: number, size: number): number {
    const id = this.internals.dataIdNextNumber++;
    this.internals.wasm.tfjs.registerTensor(id, size, offset);
    return id;
  }
}

/** Another tensor over the same values; they are freed with the last one. */
export function shared(heap: WasmHeap, { dataId, shape, dtype }: TensorInfo): TensorInfo {
  heap.backend.incRef(dataId);
  return { dataId, shape, dtype };
}

function bytesOf(shape: readonly number[]): Uint8Array {
  return new Uint8Array(Int32Array.from(shape).buffer);
}
