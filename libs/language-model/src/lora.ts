import type { LlamaConfig } from './config';
import { float32Tensor, type HostTensor } from './host-tensor';
import { loraName, parseLoraName } from './lora-names';
import { weightShapes } from './weight-shapes';
import { mulberry32 } from './random';

/** The linear layers of a block, by PEFT's short name. */
export const loraModules = ['q_proj', 'k_proj', 'v_proj', 'o_proj', 'gate_proj', 'up_proj', 'down_proj'] as const;
export type LoraModule = (typeof loraModules)[number];

export interface LoraSettings {
  readonly rank: number;
  /** Scale of the adapter times the rank. */
  readonly alpha: number;
  /** Default: all seven. */
  readonly targetModules?: readonly LoraModule[];
}

/** One matrix to adapt: `model.layers.0.self_attn.q_proj`, `[out, in]`. */
export interface LoraTarget {
  readonly module: string;
  readonly out: number;
  readonly in: number;
}

/** Every matrix of the model whose short name is in `modules`, layer by layer. */
export function loraTargets(config: LlamaConfig, modules: readonly LoraModule[] = loraModules): LoraTarget[] {
  const targets: LoraTarget[] = [];
  for (const [name, shape] of weightShapes(config)) {
    const module = name.replace(/\.weight$/, '');
    const isTarget = module !== name && shape.length === 2 && modules.some((short) => module.endsWith(`.${short}`));
    if (isTarget) targets.push({ module, out: shape[0] as number, in: shape[1] as number });
  }
  return targets;
}

/**
 * A fresh adapter that changes nothing yet, as PEFT begins: A uniform in ±1/√in (Kaiming with a = √5), B zero. A's numbers come
 * from one `mulberry32(seed)`, in the order of `loraTargets`.
 */
export function initLora(
  config: LlamaConfig,
  settings: LoraSettings & { readonly seed: number },
): Map<string, HostTensor> {
  const { rank, seed, targetModules } = settings;
  const uniform = mulberry32(seed);
  const tensors = new Map<string, HostTensor>();
  for (const target of loraTargets(config, targetModules)) {
    const bound = 1 / Math.sqrt(target.in);
    const a = new Float32Array(rank * target.in);
    for (let i = 0; i < a.length; i++) a[i] = (2 * uniform() - 1) * bound;
    tensors.set(loraName(target.module, 'A'), float32Tensor([rank, target.in], a));
    tensors.set(loraName(target.module, 'B'), float32Tensor([target.out, rank], new Float32Array(target.out * rank)));
  }
  return tensors;
}

/**
 * W + scale · B·A for every adapted matrix, products summed in float64; the other weights are the same objects. The base is not
 * changed. Throws a RangeError for an adapter that does not fit.
 */
export function mergeLora(
  base: ReadonlyMap<string, HostTensor>,
  adapter: ReadonlyMap<string, HostTensor>,
  scale: number,
): Map<string, HostTensor> {
  const merged = new Map(base);
  for (const pair of loraPairs(adapter)) {
    const name = `${pair.module}.weight`;
    const weight = base.get(name);
    if (!weight) throw new RangeError(`the model has no ${name} to adapt`);
    merged.set(name, mergedWeight(weight, pair, scale));
  }
  return merged;
}

/** One adapted matrix: W + scale · B·A, summed in float64. Throws a RangeError for matrices that do not fit. */
export function mergedWeight(weight: HostTensor, { module, a, b }: LoraPair, scale: number): HostTensor {
  const [out, into] = [b.shape[0] as number, a.shape[1] as number];
  if (String(weight.shape) !== String([out, into]))
    throw new RangeError(`${module}: an adapter for [${out}, ${into}], the weight is [${weight.shape.join(', ')}]`);
  return float32Tensor([out, into], addProduct(weight.data as Float32Array, a, b, scale));
}

/** The two matrices beside one module: A `[rank, in]`, B `[out, rank]`. */
export interface LoraPair {
  /** `model.layers.0.self_attn.q_proj`. */
  readonly module: string;
  readonly a: HostTensor;
  readonly b: HostTensor;
}

/** The A and B of every adapted module. Throws a RangeError for another name, half a pair or ranks that differ. */
export function loraPairs(adapter: ReadonlyMap<string, HostTensor>): LoraPair[] {
  const modules = new Set<string>();
  for (const name of adapter.keys()) {
    const parsed = parseLoraName(name);
    if (!parsed) throw new RangeError(`${name} is not the name of a LoRA matrix`);
    modules.add(parsed.module);
  }
  return [...modules].map((module) => {
    const a = adapter.get(loraName(module, 'A'));
    const b = adapter.get(loraName(module, 'B'));
    if (!a || !b) throw new RangeError(`${module}: lora_${a ? 'B' : 'A'} is missing`);
    if (a.shape.length !== 2 || b.shape.length !== 2 || a.shape[0] !== b.shape[1])
      throw new RangeError(
        `${module}: lora_A [${a.shape.join(', ')}] and lora_B [${b.shape.join(', ')}] have no common rank`,
      );
    return { module, a, b };
  });
}

/** Row by row, so that A and the sums are read in their order in memory: a model of 0.6 billion weights takes seconds. */
function addProduct(weight: Float32Array, a: HostTensor, b: HostTensor, scale: number): Float32Array {
  const [rank, into] = a.shape as [number, number];
  const out = b.shape[0] as number;
  const rowsOfA = a.data as Float32Array;
  const sum = new Float32Array(out * into);
  const row = new Float64Array(into);
  for (let i = 0; i < out; i++) {
    row.fill(0);
    for (let r = 0; r < rank; r++) {
      const factor = b.data[i * rank + r] as number;
      const start = r * into;
      for (let j = 0; j < into; j++) row[j] = (row[j] as number) + factor * (rowsOfA[start + j] as number);
    }
    const start = i * into;
    for (let j = 0; j < into; j++) sum[start + j] = (weight[start + j] as number) + scale * (row[j] as number);
  }
  return sum;
}
