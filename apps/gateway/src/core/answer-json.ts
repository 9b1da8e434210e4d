import { markLength } from './byte-order-mark';
import { CutPlan, cutPlaces, withoutPlaces } from './json-cut';

type Json = Record<string, unknown>;

const IDS = 'prompt_token_ids';
/** Ids of a shorter text are left to `JSON.parse`. */
const LONG = 8_192;

const [ZERO, NINE, COMMA, CLOSE_ARRAY, SPACE] = [0x30, 0x39, 0x2c, 0x5d, 0x20];
/** So many digits are an int32 in any case; no vocabulary has more. */
const MAX_DIGITS = 9;

/**
 * `JSON.parse` of an engine's answer in UTF-8. The ids of a long prompt, which may be most of it, are read by themselves, as an
 * Int32Array: that takes a fifth of the time.
 *
 * @param text the same decoded, where somebody has it already
 * @throws SyntaxError when it is not JSON
 */
export function parseAnswerJson(bytes: Uint8Array, text?: string | null): unknown {
  return (bytes.length < LONG ? null : withoutIds(bytes)) ?? JSON.parse(text ?? textOf(bytes, markLength(bytes)));
}

/** `null` where nothing is won by it, or the ids are anything but whole numbers: then it is not for us to judge. */
function withoutIds(bytes: Uint8Array): Json | null {
  let ids: Int32Array | null = null;
  let members = 0;
  const plan = new CutPlan([
    {
      name: IDS,
      cut: (_, start, end) => {
        members += 1;
        if (end - start >= LONG) ids = wholeNumbers(bytes, start, end);
        return true;
      },
    },
  ]);
  try {
    const places = cutPlaces(bytes, markLength(bytes), bytes.length, plan);
    if (ids === null || members !== 1) return null;
    const others = JSON.parse(textOf(withoutPlaces(bytes, places), markLength(bytes))) as unknown;
    return typeof others === 'object' && others !== null && !Array.isArray(others) ? { ...others, [IDS]: ids } : null;
  } catch {
    return null;
  }
}

/** Filled from its beginning, and nothing beyond that is handed out. */
const unfilled = (length: number): Int32Array => new Int32Array(Buffer.allocUnsafeSlow(4 * length).buffer);

function grown(numbers: Int32Array, length: number): Int32Array {
  const longer = unfilled(length);
  longer.set(numbers);
  return longer;
}

/** `[1,20, 300]`, most of more than two digits; `null` for anything else. */
function wholeNumbers(bytes: Uint8Array, start: number, end: number): Int32Array | null {
  let numbers = unfilled((end - start) >> 2);
  let count = 0;
  for (let position = start + 1; position < end; position++) {
    let byte = bytes[position]!;
    while (byte === SPACE) byte = bytes[++position]!;
    const first = position;
    let number = 0;
    for (; byte >= ZERO && byte <= NINE; byte = bytes[++position]!) number = number * 10 + byte - ZERO;
    const digits = position - first;
    if (digits === 0 || digits > MAX_DIGITS || (digits > 1 && bytes[first] === ZERO)) return null;
    if (count === numbers.length) numbers = grown(numbers, (end - start) >> 1);
    numbers[count++] = number;
    while (byte === SPACE) byte = bytes[++position]!;
    if (byte === CLOSE_ARRAY) return position === end - 1 ? numbers.subarray(0, count) : null;
    if (byte !== COMMA) return null;
  }
  return null;
}

const textOf = (bytes: Uint8Array, start: number): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8', start);
