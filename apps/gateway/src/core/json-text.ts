const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const LETTER_U = 0x75;
const FIRST_PRINTED = 0x20;

/** The byte that a letter behind a backslash means; 0 for what may not stand there. */
const meant = new Uint8Array(256);
for (const pair of ['""', '\\\\', '//', 'b\b', 'f\f', 'n\n', 'r\r', 't\t'])
  meant[pair.charCodeAt(0)] = pair.charCodeAt(1);

const EACH = 0x01010101;
const TOP_BITS = 0x80808080;

/** Whether one of four bytes is a quote, a backslash or a control character ("Bit Twiddling Hacks", haszero and hasless). */
function holdsOther(four: number): boolean {
  const quotes = four ^ (QUOTE * EACH);
  const backslashes = four ^ (BACKSLASH * EACH);
  const found =
    ((quotes - EACH) & ~quotes) | ((backslashes - EACH) & ~backslashes) | ((four - FIRST_PRINTED * EACH) & ~four);
  return (found & TOP_BITS) !== 0;
}

/** Reads strings of JSON, in UTF-8, as the UTF-8 that they mean: no text is made of them. */
export class JsonTextReader {
  /** How much of `room` is filled. */
  filled = 0;

  private readonly source: DataView;
  private readonly target: DataView;

  /** @param room for as many bytes as all: a string means no more bytes than it has */
  constructor(
    private readonly bytes: Buffer,
    private readonly room: Buffer,
  ) {
    this.source = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    this.target = new DataView(room.buffer, room.byteOffset, room.length);
  }

  /** What was read since so much was filled. */
  since(filled: number): Buffer {
    return this.room.subarray(filled, this.filled);
  }

  /**
   * @param start of the opening quote
   * @returns where the string is over, behind its quote; −1 where it is no string, or one that has no UTF-8: half a surrogate pair
   */
  read(start: number): number {
    const { bytes, room, source, target } = this;
    if (bytes[start] !== QUOTE) return -1;
    const { length } = bytes;
    let { filled } = this;
    let position = start + 1;
    while (position < length) {
      // Four bytes that all mean themselves at once: that takes half of the time.
      for (; position <= length - 4; position += 4, filled += 4) {
        const four = source.getInt32(position, true);
        if (holdsOther(four)) break;
        target.setInt32(filled, four, true);
      }
      for (const near = Math.min(position + 4, length); position < near;) {
        const byte = bytes[position++]!;
        if (byte === QUOTE) {
          this.filled = filled;
          return position;
        }
        if (byte < FIRST_PRINTED) return -1;
        if (byte !== BACKSLASH) room[filled++] = byte;
        else if (bytes[position] === LETTER_U) {
          position = this.code(position + 1, filled);
          if (position < 0) return -1;
          ({ filled } = this);
        } else {
          const means = meant[bytes[position++]!]!;
          if (means === 0) return -1;
          room[filled++] = means;
        }
      }
    }
    return -1;
  }

  /** Behind `\u`: one code, or the two of a pair. */
  private code(position: number, filled: number): number {
    let code = this.hex(position);
    let end = position + 4;
    if (code >= 0xd800 && code <= 0xdfff) {
      const isPair = this.bytes[end] === BACKSLASH && this.bytes[end + 1] === LETTER_U;
      const low = isPair ? this.hex(end + 2) : -1;
      if (code > 0xdbff || low < 0xdc00 || low > 0xdfff) return -1;
      code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
      end += 6;
    }
    if (code < 0) return -1;
    this.filled = filled + this.room.write(String.fromCodePoint(code), filled);
    return end;
  }

  /** −1 where it is none. */
  private hex(position: number): number {
    let code = 0;
    for (let digit = 0; digit < 4; digit++) {
      const byte = this.bytes[position + digit]!;
      const lower = byte | 0x20;
      if (byte >= 0x30 && byte <= 0x39) code = code * 16 + byte - 0x30;
      else if (lower >= 0x61 && lower <= 0x66) code = code * 16 + lower - 0x57;
      else return -1;
    }
    return code;
  }
}
