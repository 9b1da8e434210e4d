import { markLength } from './byte-order-mark';
import { CutPlan, cutPlaces } from './json-cut';
import type { RequestOutline } from './request-outline';

type Json = Record<string, unknown>;

/** Key under which a request carries what it was parsed from. `JSON.stringify` passes over it, copies keep it. */
export const source = Symbol('source');

/** A request's own JSON, and the members that were parsed from it. */
export interface Source {
  /** `null` once they are memory for another request. */
  bytes: Uint8Array | null;
  readonly outline: RequestOutline | null;
  readonly members: Readonly<Json>;
  /** The JSON of each member as the client wrote it; the last of a name counts, as it does to `JSON.parse`. */
  written?: ReadonlyMap<string, Uint8Array>;
}
type Sourced = Json & { readonly [source]?: Source };

const outlines = new WeakMap<object, RequestOutline>();

/** Remembers how a request was read, so that its members are looked for in little of its JSON. */
export const hasOutline = (body: object, outline: RequestOutline): void => void outlines.set(body, outline);

/** The parsed body of an HTTP request, with the JSON that it was parsed from, in UTF-8. */
export function withSource(body: unknown, bytes: Uint8Array | undefined): unknown {
  if (!isObject(body) || Array.isArray(body) || !bytes) return body;
  return Object.assign(body, { [source]: { bytes, outline: outlines.get(body) ?? null, members: { ...body } } });
}

/** The JSON that a request, and all copies of it, was parsed from is gone. Its members are written anew from then on. */
export function forgetSource(body: unknown): void {
  const from = isObject(body) ? (body as Sourced)[source] : undefined;
  if (!from) return;
  from.bytes = null;
  delete from.written;
}

/**
 * The JSON of a request to an engine. A member that holds other values and was not changed on the way goes as the client wrote it: to
 * write a long conversation anew takes time, and a whole number beyond 2^53, like a limit in a tool's schema, does not survive
 * JavaScript's numbers. Nor does a 64-bit `seed`.
 *
 * @param body the client's request, with members set, removed or left alone
 * @param memory gives so many bytes
 */
export function exactJson(body: Sourced, memory: (bytes: number) => Buffer = newMemory): Buffer {
  const pieces: Uint8Array[] = [];
  // What comes between two members as they were written: a buffer for each little piece would take longer than its text.
  let text = '{';
  let comma = '';
  for (const name of Object.keys(body)) {
    const written = writtenMember(body, name);
    const json = written ? '' : (JSON.stringify(body[name]) as string | undefined);
    if (json === undefined) continue;
    text += `${comma}${JSON.stringify(name)}:${json}`;
    comma = ',';
    if (!written) continue;
    pieces.push(Buffer.from(text), written);
    text = '';
  }
  pieces.push(Buffer.from(`${text}}`));
  const bytes = memory(pieces.reduce((sum, piece) => sum + piece.length, 0));
  let filled = 0;
  for (const piece of pieces) {
    bytes.set(piece, filled);
    filled += piece.length;
  }
  return bytes;
}

const newMemory = (bytes: number): Buffer => Buffer.allocUnsafe(bytes);

/** A member's JSON as the client wrote it; `null` when it was changed, has no source, or is a plain value. */
export function writtenMember(body: Sourced, name: string): Uint8Array | null {
  const from = body[source];
  const value = body[name];
  if (!from?.bytes || from.members[name] !== value || !(isObject(value) || isInexact(value))) return null;
  from.written ??= writtenMembers(from.bytes, from.outline, from.members);
  return from.written.get(name) ?? null;
}

const isInexact = (value: unknown): boolean =>
  typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value);
const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

function writtenMembers(
  bytes: Uint8Array,
  outline: RequestOutline | null,
  members: Readonly<Json>,
): ReadonlyMap<string, Uint8Array> {
  const json = outline?.json ?? bytes;
  const found = new Map<string, Uint8Array>();
  const plan = new CutPlan(
    Object.keys(members).map((name) => ({
      name,
      cut: (_, start, end) => {
        const [from, to] = outline ? [outline.inRequest(start), outline.inRequest(end)] : [start, end];
        found.set(name, bytes.subarray(from, to));
        return false;
      },
    })),
  );
  cutPlaces(json, markLength(json), json.length, plan);
  return found;
}
