const ADAPTER = /^hindcast-v(\d{6,9})$/;

/** Version of a Hindcast adapter's name (`hindcast-v000012` → 12); `null` for any other name. */
export function adapterVersion(name: string): number | null {
  const digits = ADAPTER.exec(name.slice(name.indexOf(':') + 1))?.[1];
  return digits === undefined ? null : Number(digits);
}

/** A model as an engine lists it. */
export interface ListedModel {
  readonly id: string;
  /** The base model's name where it is an adapter. */
  readonly parent: string | null;
}

export type Route =
  | { readonly found: true; readonly adapter: string | null; readonly asNamed: string | null }
  | { readonly found: false };

/**
 * A name that the engines list is served as named; any other by the current version, or refused in strict mode.
 *
 *   requested        strict   → served by
 *   none             any        current
 *   listed           any        as named
 *   unlisted         no         current
 *   unlisted         yes        not found
 */
export function routeModel(
  requested: string | null,
  listed: readonly ListedModel[],
  currentAdapter: string | null,
  strict: boolean,
): Route {
  if (requested !== null && listed.some((model) => model.id === requested))
    return { found: true, adapter: null, asNamed: requested };
  if (requested !== null && strict) return { found: false };
  return { found: true, adapter: currentAdapter, asNamed: null };
}

/** Where to go when the engine does not know an adapter: the newest other version it has loaded; `null` for the base model. */
export function fallbackAdapter(listed: readonly ListedModel[], missing: string): string | null {
  const missingVersion = adapterVersion(missing);
  const versions = listed
    .map((model) => ({ id: model.id, version: adapterVersion(model.id) }))
    .filter(
      (model): model is { id: string; version: number } => model.version !== null && model.version !== missingVersion,
    )
    .sort((a, b) => b.version - a.version);
  return versions[0]?.id ?? null;
}

/**
 * Policy version that answered. An engine that names a Hindcast adapter in its answer is believed; some name the base model
 * whatever the adapter, so any other name says nothing and the model asked for decides. `null`: not a model of ours.
 */
export function answeredVersion(
  asked: string,
  answered: string | null,
  base: string,
  listed: readonly ListedModel[],
): number | null {
  const said = answered === null ? null : adapterVersion(answered);
  if (said !== null) return said;
  const version = adapterVersion(asked);
  if (version !== null) return version;
  if (asked === base) return 0;
  const model = listed.find((candidate) => candidate.id === asked);
  return model && model.parent === null ? 0 : null;
}
