import type { z } from 'zod';

/** As zod's own result, with the members that were left out. */
export type Reading<T> =
  | { readonly success: true; readonly data: T; readonly unknown: readonly string[] }
  | { readonly success: false; readonly data?: undefined; readonly error: z.ZodError };

type Issue = z.core.$ZodIssue;
type Path = readonly PropertyKey[];

/** A member that was left out may uncover a mistake in what it stood beside, and no value is nested as deep as this. */
const MOST_ROUNDS = 16;

/**
 * Parses what another process wrote, which may be of a newer version than this one: members that this version does not know are left out,
 * at any depth. Whatever else breaks the schema is refused as ever. Writers use the schema itself, which refuses a member too many.
 */
export function readNewer<S extends z.ZodType>(schema: S, value: unknown): Reading<z.infer<S>> {
  const unknown: Path[] = [];
  let known = value;
  for (let round = 1; ; round++) {
    const parsed = schema.safeParse(known);
    if (parsed.success) return { success: true, data: parsed.data as z.infer<S>, unknown: unknown.map(nameOf) };
    const found = unknownMembers(parsed.error.issues);
    if (found === null || round === MOST_ROUNDS) return { success: false, error: parsed.error };
    // The value itself may be of use to its owner, as for a dead letter.
    if (round === 1) known = copyWithout(value, found);
    else for (const path of found) removeMember(known, path);
    for (const path of found) unknown.push(path);
  }
}

/** Paths of the members that nobody knows, or `null` where anything else is wrong as well. */
function unknownMembers(issues: readonly Issue[], above: Path = []): Path[] | null {
  const found: Path[] = [];
  for (const issue of issues) {
    const path = [...above, ...issue.path];
    if (issue.code === 'unrecognized_keys') for (const key of issue.keys) found.push([...path, key]);
    else if (issue.code === 'invalid_union') {
      const meant = issue.errors.map((branch) => unknownMembers(branch, path)).find((members) => members !== null);
      if (!meant || meant.length === 0) return null;
      for (const member of meant) found.push(member);
    } else return null;
  }
  return found;
}

/** A copy of JSON without these members, of which nothing is copied: one may be nested deeper than any copy can follow. */
function copyWithout(value: unknown, paths: readonly Path[]): unknown {
  const dropped = new Map<string, Set<PropertyKey>>();
  for (const path of paths) {
    const owner = JSON.stringify(path.slice(0, -1));
    dropped.set(owner, (dropped.get(owner) ?? new Set()).add(path.at(-1)!));
  }
  const copy = (part: unknown, at: Path): unknown => {
    if (Array.isArray(part)) return part.map((item, i) => copy(item, [...at, i]));
    if (typeof part !== 'object' || part === null) return part;
    const gone = dropped.get(JSON.stringify(at));
    // Made from entries: a member named __proto__ is one like any other.
    return Object.fromEntries(
      Object.entries(part)
        .filter(([key]) => !gone?.has(key))
        .map(([key, member]) => [key, copy(member, [...at, key])]),
    );
  };
  return copy(value, []);
}

function removeMember(value: unknown, path: Path): void {
  let owner = value as Record<PropertyKey, unknown>;
  for (const step of path.slice(0, -1)) owner = owner[step] as Record<PropertyKey, unknown>;
  delete owner[path.at(-1)!];
}

const nameOf = (path: Path): string => path.map(String).join('.');
