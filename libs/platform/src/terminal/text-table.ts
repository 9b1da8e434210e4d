/**
 * Rows under a heading, columns aligned; the last column takes what is left of `width`. Codes for colours take no room.
 *
 * @param width columns of a line; without it nothing is cut
 */
export function textTable(
  heading: readonly string[],
  rows: readonly (readonly string[])[],
  width = Number.POSITIVE_INFINITY,
): string {
  const lines = [heading, ...rows];
  const widths = heading.map((_, column) => Math.max(...lines.map((line) => shownLength(line[column]!))));
  const used = widths.slice(0, -1).reduce((sum, columnWidth) => sum + columnWidth + 2, 0);
  const last = Math.max(20, width - used);
  return lines
    .map((line) =>
      line
        .map((cell, column) => (column < line.length - 1 ? padded(cell, widths[column]!) : shortened(cell, last)))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** The text in one line of at most `length` characters. */
export function shortened(text: string, length: number): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return shownLength(line) > length ? `${line.slice(0, length - 1)}…` : line;
}

// eslint-disable-next-line no-control-regex
const COLOUR_CODES = /\u001b\[[0-9;]*m/g;
const shownLength = (cell: string): number => cell.replace(COLOUR_CODES, '').length;
const padded = (cell: string, width: number): string => cell + ' '.repeat(Math.max(0, width - shownLength(cell)));
