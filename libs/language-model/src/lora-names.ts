const PREFIX = 'base_model.model.';

/** PEFT's name of an adapter matrix: A is `[rank, in]`, B is `[out, rank]`. `module` is `model.layers.0.self_attn.q_proj`. */
export function loraName(module: string, matrix: 'A' | 'B'): string {
  return `${PREFIX}${module}.lora_${matrix}.weight`;
}

/** Inverse of `loraName`; null for any other name. */
export function parseLoraName(name: string): { module: string; matrix: 'A' | 'B' } | null {
  const match = /^base_model\.model\.(.+)\.lora_([AB])\.weight$/.exec(name);
  return match ? { module: match[1] as string, matrix: match[2] as 'A' | 'B' } : null;
}
