import { CutPlan, cutPlaces, type CutMember } from './json-cut';

type Json = Record<string, unknown>;

/** Key under which a request carries the JSON text that it was parsed from. `JSON.stringify` passes over it, copies keep it. */
export const sourceText = Symbol('sourceText');

/** The parsed body of an HTTP request, with the text that it was parsed from. */
export function withSource(body: unknown, bytes: Buffer | undefined): unknown {
  if (!isObject(body) || Array.isArray(body) || !bytes) return body;
  // The parser passes over a byte-order mark.
  return Object.assign(body, { [sourceText]: () => bytes.toString('utf8').replace(/^\ufeff/, '') });
}

/**
 * The JSON of a request to an engine. A whole number beyond 2^53, like a 64-bit `seed` or a limit in a tool's schema, does not
 * survive JavaScript's numbers: a member that holds one goes as the client wrote it.
 *
 * @param body the client's request, with members set, removed or left alone
 */
export function exactJson(body: Json & { readonly [sourceText]?: () => string }): string {
  const inexact = Object.keys(body).filter((name) => holdsInexact(body[name]));
  const source = body[sourceText];
  if (inexact.length === 0 || !source) return JSON.stringify(body);
  const written = writtenAs(source(), inexact);
  const members = Object.entries(body).flatMap(([name, value]) => {
    const json = JSON.stringify(value);
    const own = written.get(name);
    // A member that was changed on the way goes as it is now.
    const isOwn = own !== undefined && JSON.stringify(JSON.parse(own)) === json;
    return json === undefined ? [] : [`${JSON.stringify(name)}:${isOwn ? own : json}`];
  });
  return `{${members.join(',')}}`;
}

const isInexact = (value: unknown): boolean =>
  typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value);
const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

/** Keeps its own stack: a body may be deep, and a prompt of ids long. */
function holdsInexact(value: unknown): boolean {
  if (!isObject(value)) return isInexact(value);
  const left: object[] = [value];
  for (let next = left.pop(); next; next = left.pop()) {
    for (const inner of Array.isArray(next) ? (next as unknown[]) : (Object.values(next) as unknown[])) {
      if (isObject(inner)) left.push(inner);
      else if (isInexact(inner)) return true;
    }
  }
  return false;
}

/** How the text spells the top-level members of these names; the last of a name counts, as it does to `JSON.parse`. */
function writtenAs(text: string, names: readonly string[]): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  const json = Buffer.from(text);
  const noted = (name: string): CutMember => ({
    name,
    cut: (_, start, end) => {
      found.set(name, json.toString('utf8', start, end));
      return false;
    },
  });
  cutPlaces(json, 0, json.length, new CutPlan(names.map(noted)));
  return found;
}
