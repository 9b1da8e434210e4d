/** Sums over the numbers of tensors that two versions have in common. */
export interface TensorSums {
  readonly parameters: number;
  /** Σ a². */
  readonly aa: number;
  /** Σ b². */
  readonly bb: number;
  /** Σ a·b. */
  readonly ab: number;
  /** Σ (b − a)². */
  readonly dd: number;
}

/** How far two versions are apart in one group of tensors. */
export interface GroupDifference {
  readonly group: string;
  readonly tensors: number;
  readonly parameters: number;
  /** ‖b − a‖₂. */
  readonly distance: number;
  /** ‖b − a‖₂ / ‖a‖₂; `null` where a is zero. */
  readonly relative: number | null;
  /** a·b / (‖a‖₂ ‖b‖₂); `null` where one of them is zero. */
  readonly cosine: number | null;
}

/** Group of a weight: its place in a block, whatever the block; `self_attn.q_proj.lora_A`, `input_layernorm`, `embed_tokens`. */
export function groupOf(name: string): string {
  return name
    .replace(/^base_model\.model\./, '')
    .replace(/^model\./, '')
    .replace(/^layers\.\d+\./, '')
    .replace(/\.weight$/, '');
}

/** @throws RangeError when the two have not the same length */
export function tensorSums(a: Float32Array, b: Float32Array): TensorSums {
  if (a.length !== b.length) throw new RangeError(`${a.length} numbers cannot be compared with ${b.length}`);
  let [aa, bb, ab, dd] = [0, 0, 0, 0];
  for (let i = 0; i < a.length; i++) {
    const [x, y] = [a[i]!, b[i]!];
    aa += x * x;
    bb += y * y;
    ab += x * y;
    dd += (y - x) * (y - x);
  }
  return { parameters: a.length, aa, bb, ab, dd };
}

/** The groups in the order of their first tensor, and `all` of them. */
export function groupDifferences(sums: ReadonlyMap<string, TensorSums>): GroupDifference[] {
  const groups = new Map<string, TensorSums[]>();
  for (const [name, sum] of sums) groups.set(groupOf(name), [...(groups.get(groupOf(name)) ?? []), sum]);
  const found = [...groups].map(([group, members]) => differenceOf(group, members));
  return found.length === 0 ? [] : [...found, differenceOf('all', [...sums.values()])];
}

function differenceOf(group: string, members: readonly TensorSums[]): GroupDifference {
  const total = (key: keyof TensorSums): number => members.reduce((sum, member) => sum + member[key], 0);
  const [normA, normB, distance] = [Math.sqrt(total('aa')), Math.sqrt(total('bb')), Math.sqrt(total('dd'))];
  return {
    group,
    tensors: members.length,
    parameters: total('parameters'),
    distance,
    relative: normA === 0 ? null : distance / normA,
    // Rounding must not make two equal directions more than equal.
    cosine: normA * normB === 0 ? null : Math.max(-1, Math.min(1, total('ab') / (normA * normB))),
  };
}

export interface SettingDifference {
  readonly name: string;
  readonly a: unknown;
  readonly b: unknown;
}

/** Settings that differ, by dotted name; one that a side does not have is `null` there. */
export function settingDifferences(a: unknown, b: unknown): SettingDifference[] {
  const [left, right] = [flattened(a), flattened(b)];
  return [...new Set([...left.keys(), ...right.keys()])]
    .filter((name) => JSON.stringify(left.get(name)) !== JSON.stringify(right.get(name)))
    .map((name) => ({ name, a: left.get(name) ?? null, b: right.get(name) ?? null }));
}

function flattened(value: unknown, path: readonly string[] = []): Map<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return new Map([[path.join('.'), value]]);
  return new Map(Object.entries(value).flatMap(([name, inner]) => [...flattened(inner, [...path, name])]));
}
