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
 * Policy version that answered; `null`: not a model of ours.
 *
 *   named in the answer                         → version
 *   a Hindcast adapter, alone or `base:adapter`   its own: the engine is believed
 *   nothing (no name, or an empty one)            that of the model asked for
 *   the model asked for                           that of the model asked for (SGLang repeats the request's name)
 *   the base model, or one listed without parent  that of the model asked for: some servers name it whatever the adapter
 *   anything else                                 null: another model answered
 *
 * The version of the model asked for: an adapter's own; 0 of the base model, or of one that is listed without a parent; else null.
 */
export function answeredVersion(
  asked: string,
  answered: string | null,
  base: string,
  listed: readonly ListedModel[],
): number | null {
  const said = answered === null ? null : adapterVersion(answered);
  if (said !== null) return said;
  const isBase = (name: string): boolean =>
    name === base || listed.some(({ id, parent }) => id === name && parent === null);
  if (answered && answered !== asked && !isBase(answered)) return null;
  const version = adapterVersion(asked);
  if (version !== null) return version;
  return isBase(asked) ? 0 : null;
}
