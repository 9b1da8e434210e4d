/** Rows under a heading, columns aligned; the last column takes what is left of `width`. */
export function textTable(heading: readonly string[], rows: readonly (readonly string[])[], width: number): string {
  const lines = [heading, ...rows];
  const widths = heading.map((_, column) => Math.max(...lines.map((line) => line[column]!.length)));
  const used = widths.slice(0, -1).reduce((sum, columnWidth) => sum + columnWidth + 2, 0);
  const last = Math.max(20, width - used);
  return lines
    .map((line) =>
      line
        .map((cell, column) => (column < line.length - 1 ? cell.padEnd(widths[column]!) : shortened(cell, last)))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** The text in one line of at most `length` characters. */
export function shortened(text: string, length: number): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length > length ? `${line.slice(0, length - 1)}…` : line;
}
