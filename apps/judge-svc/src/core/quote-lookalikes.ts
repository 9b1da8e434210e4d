// Letters and signs that a reader takes for ASCII ones and that no Unicode normalisation maps there (UTS #39 calls them confusables).
// Only what the marks of a vote are made of: letters of their words, backslash, brackets, quotation marks.
const LOOKALIKES: Readonly<Record<string, string>> = {
  a: 'аɑαᴀ',
  b: 'ьƅвʙβ',
  c: 'сϲᴄ',
  d: 'ԁɗᴅ',
  e: 'еєεҽᴇɛ',
  f: 'ғƒꜰ',
  g: 'ɡց',
  h: 'һհнʜ',
  i: 'іıιɪӏ',
  k: 'κкᴋ',
  l: 'ʟ',
  m: 'мᴍ',
  n: 'пոɴν',
  o: 'оοօᴏσ٥۵০',
  r: 'гᴦʀ',
  s: 'ѕꜱʂ',
  t: 'тτᴛ',
  u: 'υսᴜ',
  x: 'хχ×⨯✕✖',
  '\\': '∖⧵⧹⟍╲⑊',
  '{': '❴⦃',
  '}': '❵⦄',
  '[': '【〔⟦⁅「',
  ']': '】〕⟧⁆」',
  '<': '❮〈⟨',
  '>': '❯〉⟩',
  '"': '“”„«»',
  "'": '‘’',
  ':': '∶ː꞉',
  '-': '‐‑‒–—−',
  _: 'ˍ',
};

const LETTER_BLOCKS = [
  { first: 0x1f150, why: 'negative circled' },
  { first: 0x1f170, why: 'negative squared' },
  { first: 0x1f1e6, why: 'regional indicators' },
];

const known = new Map(
  Object.entries(LOOKALIKES).flatMap(([ascii, alike]) => [...alike].map((char) => [char, ascii] as const)),
);

/** The ASCII character that `char`, one lower-case code point, looks like, or `undefined`. */
export function lookalike(char: string): string | undefined {
  const ascii = known.get(char);
  if (ascii !== undefined) return ascii;
  const point = char.codePointAt(0)!;
  const block = LETTER_BLOCKS.find(({ first }) => point >= first && point < first + 26);
  return block && String.fromCharCode(97 + point - block.first);
}
