/** What a decoder writes for bytes that are no character. */
const REPLACEMENT = '\uFFFD';

/**
 * Text of a token, found from that of the same token twice in a row. A decoder that is given one token alone may leave out the space
 * before a word; of the second one it does not.
 *
 * @returns `null` when the token is a piece of a character, and has no text of its own
 */
export function textOfTwice(twice: string): string | null {
  if (twice.includes(REPLACEMENT)) return null;
  const middle = Math.floor(twice.length / 2);
  const [first, second] = [twice.slice(0, middle), twice.slice(middle)];
  return second === first || second === ` ${first}` ? second : null;
}

/** Text of bytes in UTF-8; `null` when they are none. */
export function textOfBytes(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}
