// GPT-2's byte alphabet: every byte has one printable character. Printable Latin-1 bytes stand for themselves, the other 68
// (controls, space, soft hyphen, ...) take the code points from 256 on, in order.
const isPrintable = (byte: number): boolean =>
  (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;

const byteOfCharacter = new Map<string, number>();
for (let byte = 0, next = 256; byte < 256; byte++)
  byteOfCharacter.set(String.fromCodePoint(isPrintable(byte) ? byte : next++), byte);

/** The bytes that a byte-level BPE token stands for, or null when it holds a character outside the alphabet. */
export function byteLevelBytes(token: string): Uint8Array | null {
  const bytes: number[] = [];
  for (const character of token) {
    const byte = byteOfCharacter.get(character);
    if (byte === undefined) return null;
    bytes.push(byte);
  }
  return Uint8Array.from(bytes);
}
