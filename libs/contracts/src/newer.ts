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
    if (round === 1) known = structuredClone(value);
    for (const path of found) removeMember(known, path);
    unknown.push(...found);
  }
}

/** Paths of the members that nobody knows, or `null` where anything else is wrong as well. */
function unknownMembers(issues: readonly Issue[], above: Path = []): Path[] | null {
  const found: Path[] = [];
  for (const issue of issues) {
    const path = [...above, ...issue.path];
    if (issue.code === 'unrecognized_keys') found.push(...issue.keys.map((key) => [...path, key]));
    else if (issue.code === 'invalid_union') {
      const meant = issue.errors.map((branch) => unknownMembers(branch, path)).find((members) => members !== null);
      if (!meant || meant.length === 0) return null;
      found.push(...meant);
    } else return null;
  }
  return found;
}

function removeMember(value: unknown, path: Path): void {
  let owner = value as Record<PropertyKey, unknown>;
  for (const step of path.slice(0, -1)) owner = owner[step] as Record<PropertyKey, unknown>;
  delete owner[path.at(-1)!];
}

const nameOf = (path: Path): string => path.map(String).join('.');
