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
  for (const { module, a, b } of loraPairs(adapter)) {
    const weight = base.get(`${module}.weight`);
    if (!weight) throw new RangeError(`the model has no ${module}.weight to adapt`);
    const [out, into] = [b.shape[0] as number, a.shape[1] as number];
    if (String(weight.shape) !== String([out, into]))
      throw new RangeError(`${module}: an adapter for [${out}, ${into}], the weight is [${weight.shape.join(', ')}]`);
    merged.set(`${module}.weight`, float32Tensor([out, into], addProduct(weight.data, a, b, scale)));
  }
  return merged;
}

/** The A and B of every adapted module. Throws a RangeError for another name, half a pair or ranks that differ. */
export function loraPairs(
  adapter: ReadonlyMap<string, HostTensor>,
): { module: string; a: HostTensor; b: HostTensor }[] {
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

function addProduct(weight: ArrayLike<number>, a: HostTensor, b: HostTensor, scale: number): Float32Array {
  const [rank, into] = a.shape as [number, number];
  const out = b.shape[0] as number;
  const sum = new Float32Array(out * into);
  for (let row = 0; row < out; row++) {
    for (let column = 0; column < into; column++) {
      let product = 0;
      for (let r = 0; r < rank; r++)
        product += (b.data[row * rank + r] as number) * (a.data[r * into + column] as number);
      sum[row * into + column] = (weight[row * into + column] as number) + scale * product;
    }
  }
  return sum;
}
