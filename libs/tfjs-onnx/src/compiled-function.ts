import type * as tf from '@tensorflow/tfjs';
import { ready } from '@tensorflow/tfjs';
import { InferenceSession, Tensor } from 'onnxruntime-node';
import { assertHostTensor, type HostData, hostData, type HostTensor, sizeOf } from './host-tensor';
import { inputName, type InputSignature, outputName, type OutputSum, record } from './record';
import { registerRecordingBackend } from './recording-backend';

/** How a function is recorded and run. */
export interface CompileOptions {
  /** Threads of one operator; default: as many as onnxruntime finds cores. */
  readonly threads?: number;
  /** onnxruntime's execution providers, best first; default `['cpu']`. */
  readonly executionProviders?: readonly string[];
  /** Name of the graph, for error messages. */
  readonly name?: string;
  /** Graphs kept at once, default 16. Each has memory of its own; the one not used for longest is released. */
  readonly maxSignatures?: number;
  /** Whether threads wait busily for a moment between the operators of a run; default false. Between runs none does. */
  readonly spinning?: boolean;
}

/** What a CompiledFunction has done so far. */
export interface CompileStats {
  /** Graphs kept now. */
  readonly signatures: number;
  /** Recordings made, with those of released graphs. */
  readonly recordings: number;
  readonly runs: number;
  /** Nodes and bytes of the newest graph. */
  readonly nodes: number;
  readonly modelBytes: number;
}

/** onnxruntime writes errors to stderr and throws them; once is enough. */
const FATAL_ONLY = 4;

interface Compiled {
  readonly session: Promise<InferenceSession>;
  readonly outputs: Readonly<Record<string, InputSignature>>;
  readonly sums: Readonly<Record<string, OutputSum>>;
  readonly running: Set<Promise<unknown>>;
}

/**
 * A computation in plain tfjs ops, recorded once per combination of input shapes and dtypes, then run by onnxruntime.
 *
 * `fn` sees symbolic tensors. It may use tf.grads, tf.valueAndGrads, tf.variableGrads (on variables it makes itself) and
 * tf.customGrad: the gradient becomes part of the same graph. Whatever it computes without the inputs is a constant of
 * the graph: random numbers, for one, are drawn once. Weights are inputs, so that an optimizer can change them.
 *
 * ```ts
 * const step = new CompiledFunction(({ x, w }: Record<'x' | 'w', tf.Tensor>) => {
 *   const { value, grads } = tf.valueAndGrads((w) => loss(x, w))([w]);
 *   return { loss: value, gradient: grads[0] };
 * });
 * const { loss, gradient } = await step.run({ x, w });
 * ```
 */
export class CompiledFunction<In extends string = string, Out extends string = string> {
  private readonly compiled = new Map<string, Compiled>();
  private readonly counts = { recordings: 0, runs: 0, nodes: 0, modelBytes: 0 };
  private readonly releases = new Set<Promise<void>>();
  private isDisposed = false;

  constructor(
    private readonly fn: (inputs: Record<In, tf.Tensor>) => Record<Out, tf.Tensor>,
    private readonly options: CompileOptions = {},
  ) {
    registerRecordingBackend();
  }

  get stats(): CompileStats {
    return { signatures: this.compiled.size, ...this.counts };
  }

  /**
   * Runs the function. Input data is read in place and must not change before the promise settles; outputs are new, but for those that
   * `into` has arrays for, which are written there. Runs may overlap.
   * @throws TypeError, RangeError for inputs that contradict themselves; errors of recording (nothing is kept then);
   *   Error from onnxruntime, such as for an index outside of what is gathered
   */
  async run(
    inputs: Readonly<Record<In, HostTensor>>,
    into?: Readonly<Partial<Record<Out, HostData>>>,
  ): Promise<Record<Out, HostTensor>> {
    const entries = Object.entries(inputs as Record<string, HostTensor>);
    for (const [name, tensor] of entries) assertHostTensor(name, tensor);
    await ready();
    const compiled = this.compile(entries);
    const feeds = Object.fromEntries(
      entries.map(([name, { dtype, data, shape }]) => [
        inputName(name),
        new Tensor(dtype, data as Float32Array, shape),
      ]),
    );
    const given: Readonly<Partial<Record<string, HostData>>> = into ?? {};
    const fetches = fetchesFor(compiled, given);
    const running = compiled.session.then((session) => session.run(feeds, fetches, { logSeverityLevel: FATAL_ONLY }));
    compiled.running.add(running);
    try {
      const results = await running;
      this.counts.runs++;
      const outputs: Record<string, HostTensor> = {};
      for (const [name, { dtype, shape }] of Object.entries(compiled.outputs)) {
        // What onnxruntime gives back is a copy of what it wrote.
        const written = given[name] ?? (results[outputName(name)]?.data as HostData | undefined);
        const sum = compiled.sums[name];
        const data = sum ? addedUp(sum, results, written as Float32Array | undefined, shape) : written!;
        outputs[name] = { dtype, shape, data };
      }
      return outputs as Record<Out, HostTensor>;
    } finally {
      compiled.running.delete(running);
    }
  }

  /** Releases every graph, after the runs in progress. Running again is an error. */
  async dispose(): Promise<void> {
    this.isDisposed = true;
    for (const key of [...this.compiled.keys()]) this.evict(key);
    await Promise.all(this.releases);
  }

  private compile(entries: readonly [string, HostTensor][]): Compiled {
    const name = this.options.name ?? 'function';
    if (this.isDisposed) throw new Error(`"${name}" was disposed`);
    const key = entries
      .map(([input, { dtype, shape }]) => `${input}:${dtype}[${shape.join()}]`)
      .sort()
      .join(' ');
    const known = this.compiled.get(key);
    // Moved to the end: the map's order is the order of last use.
    this.compiled.delete(key);
    const compiled = known ?? this.build(name, key, Object.fromEntries(entries));
    this.compiled.set(key, compiled);
    const [oldest] = this.compiled.keys();
    if (this.compiled.size > (this.options.maxSignatures ?? 16)) this.evict(oldest as string);
    return compiled;
  }

  private build(name: string, key: string, inputs: Readonly<Record<string, HostTensor>>): Compiled {
    const executionProviders = [...(this.options.executionProviders ?? ['cpu'])];
    const { model, outputs, sums, nodes } = record(name, this.fn, inputs, executionProviders[0] === 'cpu');
    this.counts.recordings++;
    this.counts.nodes = nodes;
    this.counts.modelBytes = model.byteLength;
    const session = InferenceSession.create(model, {
      executionProviders,
      interOpNumThreads: 1,
      // It keeps a second block as large as all that the first run allocated, and gains nothing that can be measured.
      enableMemPattern: false,
      graphOptimizationLevel: 'all',
      logSeverityLevel: FATAL_ONLY,
      extra: { session: { intra_op: spinningOptions(this.options.spinning === true), force_spinning_stop: '1' } },
      ...(this.options.threads === undefined ? {} : { intraOpNumThreads: this.options.threads }),
    });
    const compiled: Compiled = { session, outputs, sums, running: new Set() };
    session.catch(() => {
      if (this.compiled.get(key) === compiled) this.compiled.delete(key);
    });
    return compiled;
  }

  /** Forgets a graph, and releases its memory when nothing runs in it any more. */
  private evict(key: string): void {
    const compiled = this.compiled.get(key);
    if (compiled === undefined) return;
    this.compiled.delete(key);
    const release = async (): Promise<void> => {
      await Promise.allSettled(compiled.running);
      await (await compiled.session).release();
    };
    // A session that could not be made has nothing to release; its runs have reported why.
    const released = release().catch(() => undefined);
    this.releases.add(released);
    void released.then(() => this.releases.delete(released));
  }
}

/**
 * Memory for what a run gives, so that onnxruntime writes it where it stays; it makes an empty output itself.
 * @throws RangeError when an array of `into` does not fit its output
 */
function fetchesFor(
  { outputs, sums }: Compiled,
  into: Readonly<Partial<Record<string, HostData>>>,
): Record<string, Tensor | null> {
  const parts = Object.values(sums).flatMap(({ rows }) => rows.flatMap(({ values, ids }) => [values, ids]));
  const fetches = Object.fromEntries(
    Object.entries(outputs).map(([name, { dtype, shape }]) => {
      const given = into[name];
      if (given && given.length !== sizeOf(shape)) {
        throw new RangeError(`output "${name}" has ${sizeOf(shape)} elements, the array for it ${given.length}`);
      }
      const data = given ?? hostData(dtype, sizeOf(shape));
      return [outputName(name), data.length === 0 ? null : new Tensor(dtype, data as Float32Array, shape)];
    }),
  );
  for (const [name, { hasDense }] of Object.entries(sums)) if (!hasDense) delete fetches[outputName(name)];
  return { ...fetches, ...Object.fromEntries(parts.map((name) => [name, null])) };
}

/** The dense part with every row added, in their order, so that the bits are the same at every run. */
function addedUp(
  { hasDense, rows }: OutputSum,
  results: InferenceSession.ReturnType,
  written: Float32Array | undefined,
  shape: readonly number[],
): Float32Array {
  const sum = written ?? new Float32Array(sizeOf(shape));
  if (!hasDense) sum.fill(0);
  const count = shape[0] as number;
  const width = sum.length / count;
  for (const { values, ids } of rows) {
    const added = results[values]!.data as Float32Array;
    (results[ids]!.data as Int32Array).forEach((id, row) => {
      if (id < 0 || id >= count) return;
      for (let i = 0; i < width; i++) sum[id * width + i]! += added[row * width + i]!;
    });
  }
  return sum;
}

/** Longer than from one operator to the next, and too short to cost much where another process needs the core. */
const SPIN_MICROSECONDS = 50;

function spinningOptions(isSpinning: boolean): Record<string, string> {
  if (!isSpinning) return { allow_spinning: '0' };
  return { allow_spinning: '1', spin_duration_us: String(SPIN_MICROSECONDS) };
}
