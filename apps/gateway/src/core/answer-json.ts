import { markLength } from './byte-order-mark';
import { CutPlan, cutPlaces, withoutPlaces } from './json-cut';

type Json = Record<string, unknown>;

const IDS = 'prompt_token_ids';
/** Ids of a shorter text are left to `JSON.parse`. */
const LONG = 8_192;

const [ZERO, COMMA, OPEN_ARRAY, CLOSE_ARRAY, SPACE] = [0x30, 0x2c, 0x5b, 0x5d, 0x20];
/** So many digits are an int32 in any case; no vocabulary has more. */
const MAX_DIGITS = 9;

/** Memory for so many ids, for as long as somebody reads them. */
export type IdsRoom = (length: number) => Int32Array;

/** Room in memory of which so many bytes are given, aligned to 4. */
export const roomIn =
  (memory: { take(bytes: number): Uint8Array }): IdsRoom =>
  (length) => {
    const { buffer, byteOffset } = memory.take(length * Int32Array.BYTES_PER_ELEMENT);
    return new Int32Array(buffer, byteOffset, length);
  };

const newRoom: IdsRoom = (length) => new Int32Array(length);

/**
 * `JSON.parse` of an engine's answer in UTF-8. The ids of a long prompt, which may be most of it, are read by themselves, as an
 * Int32Array: that takes a fifth of the time.
 *
 * @param text decodes the same, for whoever has use for the text besides; not called where the ids are read by themselves
 * @param idsRoom where the ids that are read by themselves are kept
 * @throws SyntaxError when it is not JSON
 */
export function parseAnswerJson(
  bytes: Uint8Array,
  {
    text = () => textOf(bytes, markLength(bytes)),
    idsRoom = newRoom,
  }: { readonly text?: () => string; readonly idsRoom?: IdsRoom | undefined } = {},
): unknown {
  return (bytes.length < LONG ? null : withoutIds(bytes, idsRoom)) ?? JSON.parse(text());
}

/** `null` where nothing is won by it, or the ids are anything but whole numbers: then it is not for us to judge. */
function withoutIds(bytes: Uint8Array, idsRoom: IdsRoom): Json | null {
  let ids: Int32Array | null = null;
  let members = 0;
  const plan = new CutPlan([
    {
      name: IDS,
      cut: (_, start, end) => {
        members += 1;
        if (end - start >= LONG && bytes[start] === OPEN_ARRAY) ids = wholeNumbers(bytes, start, end, idsRoom);
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

/** Room for the ids of one answer after the other: to take memory that nobody has touched yet takes as long as to read them. */
let room = new Int32Array(0);
/** What is kept of it between answers, in ids: room for a megabyte of JSON, which 150,000 ids of a large vocabulary take. */
const KEPT_IDS = 524_288;

function roomFor(length: number): Int32Array {
  if (room.length >= length) return room;
  const larger = new Int32Array(length);
  if (length <= KEPT_IDS) room = larger;
  return larger;
}

/** What four bytes have above the digits that they stand for. */
const ZEROS = 0x30303030;
const TOP_BITS = 0x80808080;
/** Added to a byte, it reaches the top bit from 10 on. */
const ABOVE_NINE = 0x76767676;

/**
 * The numbers of `[1,20, 300]`, which is between `start` and `end`; `null` for anything but an array of int32 that are not negative.
 *
 * The first four digits are read at once, and each of the next two has a branch of its own, which the processor learns to foretell:
 * ids of one vocabulary have much the same length. A branch for each digit takes longer, a loop over them longer still.
 */
export function wholeNumbers(
  bytes: Uint8Array,
  start: number,
  end: number,
  idsRoom: IdsRoom = newRoom,
): Int32Array | null {
  if (bytes[start] !== OPEN_ARRAY) return null;
  const numbers = roomFor((end - start) >> 1);
  const view = new DataView(bytes.buffer, bytes.byteOffset, end);
  let count = 0;
  let position = start + 1;
  for (;;) {
    while (bytes[position] === SPACE) position++;
    const first = position;
    let number = 0;
    const four = position <= end - 4 ? view.getInt32(position, true) ^ ZEROS : -1;
    if ((((four + ABOVE_NINE) | four) & TOP_BITS) === 0) {
      // Two digits in every second byte.
      const pairs = Math.imul(four, 10) + (four >>> 8);
      number = (pairs & 0xff) * 100 + ((pairs >>> 16) & 0xff);
      position += 4;
      let digit = bytes[position]! - ZERO;
      if (digit >>> 0 <= 9) {
        number = number * 10 + digit;
        digit = bytes[++position]! - ZERO;
        if (digit >>> 0 <= 9) {
          number = number * 10 + digit;
          position++;
        }
      }
    }
    let digit = bytes[position]! - ZERO;
    while (digit >>> 0 <= 9) {
      if (position - first >= MAX_DIGITS) return null;
      number = (number * 10 + digit) | 0;
      digit = bytes[++position]! - ZERO;
    }
    const isWritten = position > first && (bytes[first] !== ZERO || position === first + 1);
    if (!isWritten) return null;
    numbers[count++] = number;
    let byte = bytes[position]!;
    while (byte === SPACE) byte = bytes[++position]!;
    position++;
    if (byte === CLOSE_ARRAY) return position === end ? kept(numbers.subarray(0, count), idsRoom) : null;
    if (byte !== COMMA) return null;
  }
}

function kept(numbers: Int32Array, idsRoom: IdsRoom): Int32Array {
  const ids = idsRoom(numbers.length);
  ids.set(numbers);
  return ids;
}

const textOf = (bytes: Uint8Array, start: number): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8', start);
