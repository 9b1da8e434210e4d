type Json = Record<string, unknown>;

const ESCAPED_CODE = '\\u';

/**
 * `JSON.parse` of a long request in UTF-8 of more than ASCII: parsed as bytes, and then every text is decoded by itself.
 *
 * @param utf8 valid, one byte a character
 * @returns `undefined` where that is not done: a text is escaped by its code, a name is not ASCII, or it has more levels than `maxDepth`
 * @throws SyntaxError when it is not JSON
 */
export function parseUtf8Json(utf8: string, maxDepth: number): unknown {
  // A code below U+0100 would pass for a byte.
  if (utf8.includes(ESCAPED_CODE)) return undefined;
  const body = JSON.parse(utf8) as unknown;
  if (typeof body !== 'object' || body === null) return undefined;
  return decodeMembers(body, 1, maxDepth) ? body : undefined;
}

/** @returns false when it gave up, with some of the texts decoded */
function decodeMembers(value: object, depth: number, maxDepth: number): boolean {
  if (depth > maxDepth) return false;
  if (Array.isArray(value)) return decodeEntries(value as unknown[], depth, maxDepth);
  const members = value as Json;
  for (const name of Object.keys(members)) {
    if (!isAscii(name)) return false;
    const member = members[name];
    if (typeof member === 'object' && member !== null) {
      if (!decodeMembers(member, depth + 1, maxDepth)) return false;
    } else if (typeof member !== 'string' || isAscii(member)) continue;
    // A member of its own, also one that is called `__proto__`.
    else members[name] = textOf(member);
  }
  return true;
}

function decodeEntries(entries: unknown[], depth: number, maxDepth: number): boolean {
  for (let index = 0; index < entries.length; index++) {
    const entry = entries[index];
    if (typeof entry === 'string') entries[index] = isAscii(entry) ? entry : textOf(entry);
    else if (typeof entry === 'object' && entry !== null && !decodeMembers(entry, depth + 1, maxDepth)) return false;
  }
  return true;
}

const textOf = (utf8: string): string => Buffer.from(utf8, 'latin1').toString();

/** Takes a fraction of the time of a look at each character. */
const isAscii = (utf8: string): boolean => Buffer.byteLength(utf8) === utf8.length;
