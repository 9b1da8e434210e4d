/** A run of tokens that is laid out on its own: `[from, to)`. */
export interface TokenChunk {
  readonly from: number;
  readonly to: number;
}

/** Cuts tokens into runs of `size`, a little longer where a line ends soon: only there the cut does not show. */
export function tokenChunks(texts: readonly (string | null)[] | null, length: number, size = 160): TokenChunk[] {
  const chunks: TokenChunk[] = [];
  for (let from = 0; from < length;) {
    let to = Math.min(length, from + size);
    const furthest = Math.min(length, from + 2 * size);
    while (to < furthest && texts?.[to - 1]?.endsWith('\n') !== true) to += 1;
    chunks.push({ from, to });
    from = to;
  }
  return chunks;
}

/** A token as it is shown: white space that would not be seen gets a sign, and a token without a text its id. */
export function shownText(text: string | null, id: number): string {
  if (text === null) return `⟨${id}⟩`;
  if (text === '') return '∅';
  return text.replace(/\n/g, '⏎\n').replace(/\t/g, '⇥\t');
}

/** The text with every space visible, for a table. */
export const visibleText = (text: string | null): string =>
  text === null ? '–' : text === '' ? '∅' : text.replace(/ /g, '␣').replace(/\n/g, '⏎').replace(/\t/g, '⇥');

/** What a screen reader says of a token whose text it would pass over; `undefined` where the text speaks for itself. */
export function spokenText(text: string | null, id: number): string | undefined {
  if (text !== null && /[\p{L}\p{N}\p{P}]/u.test(text)) return undefined;
  if (text === null || text === '') return `token without a text, id ${id}`;
  if (text.trim() !== '') return `${text.trim()}, id ${id}`;
  return text.includes('\n') ? 'new line' : 'white space';
}
