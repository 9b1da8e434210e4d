/** Named entities of HTML for what the marks of a vote are made of. */
const ENTITIES: Readonly<Record<string, string>> = {
  amp: '&',
  AMP: '&',
  bsol: '\\',
  setminus: '\\',
  lbrace: '{',
  lcub: '{',
  rbrace: '}',
  rcub: '}',
  lbrack: '[',
  lsqb: '[',
  rbrack: ']',
  rsqb: ']',
  lt: '<',
  LT: '<',
  gt: '>',
  GT: '>',
  quot: '"',
  QUOT: '"',
  apos: "'",
  colon: ':',
  lowbar: '_',
  UnderBar: '_',
  percnt: '%',
  num: '#',
  nbsp: ' ',
  Tab: '\t',
  NewLine: '\n',
  shy: '\u00ad',
  zwj: '\u200d',
  zwnj: '\u200c',
  ZeroWidthSpace: '\u200b',
};

// Each is matched right after the character that opens it.
const AFTER_AMPERSAND = /(?:#0{0,8}(\d{1,7})|#[xX]0{0,8}([0-9a-fA-F]{1,6})|([A-Za-z]{2,14}));?/y;
const AFTER_PERCENT = /(?:u([0-9a-fA-F]{4})|([0-9a-fA-F]{2}))/y;
const AFTER_BACKSLASH =
  /(?:u([0-9a-fA-F]{4})|u\{0{0,8}([0-9a-fA-F]{1,6})\}|x([0-9a-fA-F]{2})|U([0-9a-fA-F]{8})|([0-3][0-7]{2}))/y;

/** An escape is escaped this often at most (`&amp;amp;#92;`); beyond it a reader would have to decode on purpose. */
const DEPTH = 4;

export interface Decoded {
  readonly char: string;
  /** Index after the last character that was read. */
  readonly end: number;
}

/**
 * The character at `at` after undoing what HTML, a URL, JSON or JavaScript may have escaped, in whatever order.
 * @param char the code point that stands at `at`
 */
export function decodeEscape(text: string, at: number, char: string): Decoded {
  let decoded: Decoded = { char, end: at + char.length };
  for (let depth = 0; depth < DEPTH; depth++) {
    const next = step(text, decoded);
    if (next === null) break;
    decoded = next;
  }
  return decoded;
}

function step(text: string, { char, end }: Decoded): Decoded | null {
  if (char === '&') {
    const match = matchAt(AFTER_AMPERSAND, text, end);
    if (match === null) return null;
    const [, decimal, hex, name] = match;
    const named = name === undefined ? (character(decimal, 10) ?? character(hex, 16)) : ENTITIES[name];
    return named === undefined ? null : { char: named, end: end + match[0].length };
  }
  const match =
    char === '%' ? matchAt(AFTER_PERCENT, text, end) : char === '\\' ? matchAt(AFTER_BACKSLASH, text, end) : null;
  if (match === null) return null;
  const octal = match[5];
  const decoded =
    octal === undefined
      ? character(
          match.slice(1, 5).find((group) => group !== undefined),
          16,
        )
      : character(octal, 8);
  return decoded === undefined ? null : { char: decoded, end: end + match[0].length };
}

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}

function character(digits: string | undefined, radix: number): string | undefined {
  if (digits === undefined) return undefined;
  const point = parseInt(digits, radix);
  return point <= 0x10ffff ? String.fromCodePoint(point) : undefined;
}
