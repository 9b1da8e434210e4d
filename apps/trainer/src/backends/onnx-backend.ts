import { float32Tensor } from '@hindcast/language-model';
import type { CompiledFunction } from '@hindcast/tfjs-onnx';
import type { Computation, ComputeBackend, HostTensors, TensorFunction } from '../core/compute-backend';

export interface OnnxOptions {
  /** Threads of one operator. */
  readonly threads: number;
  /** onnxruntime's execution providers, best first. */
  readonly executionProviders: readonly string[];
}

/** Runs tensor functions as ONNX graphs, each recorded once per combination of shapes together with its derivative. */
export class OnnxBackend implements ComputeBackend {
  private readonly compiled: CompiledFunction[] = [];

  constructor(
    readonly name: string,
    /** Passed in, because importing it loads onnxruntime's native code, which may be missing. */
    private readonly Compiled: typeof CompiledFunction,
    private readonly options: OnnxOptions,
  ) {}

  compile(name: string, fn: TensorFunction, fixed: HostTensors): Computation {
    const compiled = new this.Compiled(fn, { ...this.options, name, spinning: true });
    this.compiled.push(compiled);
    return async (inputs, into) => {
      const outputs = await compiled.run({ ...fixed, ...inputs }, into);
      return Object.fromEntries(
        Object.entries(outputs).map(([output, { shape, data }]) => {
          if (!(data instanceof Float32Array)) throw new TypeError(`${name}: output ${output} is not float32`);
          return [output, float32Tensor(shape, data)];
        }),
      );
    };
  }

  async dispose(): Promise<void> {
    await Promise.all(this.compiled.map((compiled) => compiled.dispose()));
  }
}
