import { decodeEscape } from './quote-escapes';
import { lookalike } from './quote-lookalikes';

/**
 * What a text comes to for a reader that forgives everything: escapes undone, look-alike letters and styles made plain ASCII, lower
 * case, without white space, accents, emphasis and what is invisible. Marks are looked for here and replaced in the text itself.
 */
export interface Fold {
  readonly text: string;
  /** For each UTF-16 unit of the fold, where its source begins and ends in the text. */
  readonly start: Int32Array;
  readonly end: Int32Array;
}

/** Stands for a character that no mark contains; with ASCII all that a fold holds, so it is written as bytes. */
const OTHER = '·';
/** Emphasis of Markdown: a judge that renders or drops it says the rest unchanged. */
const EMPHASIS = new Set(['*', '`', '~']);
const UNSEEN = /[\p{M}\p{C}\p{White_Space}\p{Default_Ignorable_Code_Point}]/u;

const ASCII = 0x80;
const opensEscape = (code: number): boolean => code === 0x26 || code === 0x25 || code === 0x5c; // & % \
const latin1 = new TextDecoder('latin1');

export function fold(text: string): Fold {
  let capacity = text.length + 16;
  let codes = new Uint8Array(capacity);
  let start = new Int32Array(capacity);
  let end = new Int32Array(capacity);
  let length = 0;
  for (let at = 0; at < text.length;) {
    const code = text.charCodeAt(at);
    if (code < ASCII && !opensEscape(code)) {
      // Nearly all of most texts: one table, no strings.
      const plain = asciiFold[code]!;
      if (plain !== 0) {
        codes[length] = plain;
        start[length] = at;
        end[length++] = at + 1;
      }
      at += 1;
      continue;
    }
    const char = String.fromCodePoint(text.codePointAt(at)!);
    const decoded = code < ASCII ? decodeEscape(text, at, char) : { char, end: at + char.length };
    const plain = foldChar(decoded.char);
    // One character may fold to many; what is left of the text needs a place for each of its units.
    if (length + plain.length + text.length - decoded.end > capacity) {
      capacity = 2 * capacity + plain.length;
      codes = grown(codes, new Uint8Array(capacity));
      start = grown(start, new Int32Array(capacity));
      end = grown(end, new Int32Array(capacity));
    }
    for (let i = 0; i < plain.length; i++) {
      codes[length] = plain.charCodeAt(i);
      start[length] = at;
      end[length++] = decoded.end;
    }
    at = decoded.end;
  }
  return { text: latin1.decode(codes.subarray(0, length)), start, end };
}

function grown<T extends Uint8Array | Int32Array>(from: T, to: T): T {
  to.set(from);
  return to;
}

const folded = new Map<string, string>();

/** One code point of the text; empty for what is passed over. */
export function foldChar(char: string): string {
  let plain = folded.get(char);
  if (plain === undefined) folded.set(char, (plain = compute(char)));
  return plain;
}

function compute(char: string): string {
  // Upper case first: it takes dotless and long letters, and ligatures, to the plain ones.
  const pieces = lookalike(char) ?? lookalike(char.toLowerCase()) ?? char.normalize('NFKD').toUpperCase().toLowerCase();
  let plain = '';
  for (const piece of pieces.normalize('NFKD')) {
    if (UNSEEN.test(piece) || EMPHASIS.has(piece)) continue;
    plain += piece < '\u0080' ? piece : (lookalike(piece) ?? OTHER);
  }
  return plain;
}

const asciiFold = Uint8Array.from(
  { length: ASCII },
  (_, code) => foldChar(String.fromCharCode(code)).charCodeAt(0) || 0,
);
