/** An answer of `/tokenize` whose ids were read apart from the rest. */
export interface ScannedTokens {
  /** `[P]` */
  readonly ids: Int32Array;
  /** The answer without them. */
  readonly rest: Readonly<Record<string, unknown>>;
}

const LIST = Buffer.from('"tokens":[');
/** Longest answer beside the ids that is worth it, bytes: `token_strs` is null, as it was not asked for. */
const REST_BYTES = 4_096;
const MAX_ID = 0x7fffffff;
const COMMA = 44;
const ZERO = 48;
const NINE = 57;
const CLOSE_BRACKET = 93;

/**
 * Reads the ids out of the bytes of vLLM's or SGLang's `/tokenize`, in one pass and without an object for the list, and parses what else
 * it says.
 *
 * @returns null when the bytes are not exactly what these servers write, or `count` is another number; a careful reader then says what it is
 */
export function scanTokens(bytes: Buffer): ScannedTokens | null {
  const open = bytes.indexOf(LIST);
  if (open < 0 || open > REST_BYTES) return null;
  const from = open + LIST.length;
  const close = bytes.indexOf(CLOSE_BRACKET, from);
  if (close <= from || bytes.length - close > REST_BYTES) return null;
  const ids = idsBetween(bytes, from, close);
  if (!ids) return null;
  let rest: unknown;
  try {
    rest = JSON.parse(bytes.toString('utf8', 0, from) + bytes.toString('utf8', close));
  } catch {
    return null;
  }
  if (typeof rest !== 'object' || rest === null) return null;
  const { tokens, count } = rest as { tokens?: unknown; count?: unknown };
  // The list that was read is the answer's own, not one inside a text or another object.
  if (!Array.isArray(tokens) || tokens.length > 0 || count !== ids.length) return null;
  return { ids, rest: rest as Record<string, unknown> };
}

/** Null unless there stand `<int>,<int>,…`, each an int32 ≥ 0 as JSON writes it. */
function idsBetween(bytes: Buffer, from: number, to: number): Int32Array | null {
  // An id takes a digit and a comma at least.
  const ids = new Int32Array((to - from + 1) >> 1);
  let count = 0;
  let start = from;
  let id = 0;
  for (let at = from; at <= to; at++) {
    const code = at === to ? COMMA : bytes[at]!;
    if (code >= ZERO && code <= NINE) {
      id = id * 10 + code - ZERO;
    } else if (code === COMMA && at > start) {
      if (id > MAX_ID || (bytes[start] === ZERO && at > start + 1)) return null;
      ids[count++] = id;
      id = 0;
      start = at + 1;
    } else return null;
  }
  return ids.slice(0, count);
}
