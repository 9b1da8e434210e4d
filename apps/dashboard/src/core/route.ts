/** Values of the `:name` pieces of a pattern. */
export type RouteParams = Readonly<Record<string, string>>;

/** `/ui/turns/:id` against a path; `null` when it does not fit. A slash at the end of the path makes no difference. */
export function matchRoute(pattern: string, path: string): RouteParams | null {
  const wanted = pieces(pattern);
  const given = pieces(path);
  if (wanted.length !== given.length) return null;
  const params: Record<string, string> = {};
  for (const [i, piece] of wanted.entries()) {
    const value = given[i]!;
    if (!piece.startsWith(':')) {
      if (piece !== value) return null;
      continue;
    }
    const decoded = decode(value);
    if (decoded === null) return null;
    params[piece.slice(1)] = decoded;
  }
  return params;
}

function decode(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

const pieces = (path: string): string[] => path.split('/').filter((piece) => piece !== '');

/** A path with those of the parameters that say something, in the order given. */
export function withQuery(path: string, query: Readonly<Record<string, string | number | null | undefined>>): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    if (value !== null && value !== undefined && value !== '') search.append(name, String(value));
  return search.size === 0 ? path : `${path}?${search}`;
}
