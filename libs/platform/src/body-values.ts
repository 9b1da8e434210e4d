import { HindcastError } from '@hindcast/contracts';

/**
 * Values of a request body. A value takes fifty bytes of memory where its JSON takes two: without a limit, a body of the largest size
 * in bytes would end the process. The tokens of the longest prompts that servers take are a few hundred thousand; a conversation of
 * 100,000 tokens in text has a few thousand values.
 */
export const MAX_VALUES = 1_000_000;

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const OPEN_ARRAY = 0x5b;
const OPEN_OBJECT = 0x7b;
/** So far into a string its end is looked for byte by byte; in a longer one, like a picture, by the faster search for its quote. */
const SHORT_STRING = 64;

/**
 * Refuses JSON with too many values before anybody parses it: counts what can begin one, outside of strings.
 *
 * @param json in UTF-8; need not be JSON
 * @throws HindcastError `body-too-large`
 */
export function checkValues(json: Buffer): void {
  // Each value takes a byte that is counted here: a smaller body cannot have so many.
  if (json.length <= MAX_VALUES) return;
  let values = 0;
  for (let position = 0; position < json.length; position++) {
    const byte = json[position];
    if (byte === QUOTE) position = stringEnd(json, position);
    else if (byte === COMMA || byte === OPEN_OBJECT || byte === OPEN_ARRAY) values++;
  }
  if (values > MAX_VALUES) throw new HindcastError('body-too-large', `the body holds more than ${MAX_VALUES} values`);
}

/** Position of the quote that ends the string that begins at `start`; the length of all when there is none. */
function stringEnd(json: Buffer, start: number): number {
  const near = Math.min(start + SHORT_STRING, json.length);
  let position = start + 1;
  for (; position < near; position++) {
    const byte = json[position];
    if (byte === QUOTE) return position;
    if (byte === BACKSLASH) position++;
  }
  for (let from = position; ;) {
    const quote = json.indexOf(QUOTE, from);
    if (quote < 0) return json.length;
    let backslashes = 0;
    while (quote - backslashes > from && json[quote - backslashes - 1] === BACKSLASH) backslashes++;
    if (backslashes % 2 === 0) return quote;
    from = quote + 1;
  }
}
