/** Where results are looked at. */
export interface Screen {
  /** Standard output is a terminal. */
  readonly isTerminal: boolean;
  /** Part of a line, at once. */
  write(text: string): void;
  /** Lines in the place of those that were drawn before. */
  redraw(lines: readonly string[]): void;
}

export function processScreen(): Screen {
  const { stdout } = process;
  let rows = 0;
  return {
    isTerminal: stdout.isTTY === true,
    write: (text) => void stdout.write(text),
    redraw: (lines) => {
      // More lines than the window has cannot be gone back over.
      const shown = lines
        .slice(0, Math.max(1, (stdout.rows ?? 50) - 1))
        .map((line) => cut(line, stdout.columns ?? 120));
      const back = rows === 0 ? '' : `\u001b[${rows}A`;
      stdout.write(`${back}${shown.map((line) => `\u001b[2K${line}\n`).join('')}\u001b[0J`);
      rows = shown.length;
    },
  };
}

// eslint-disable-next-line no-control-regex
const PIECES = /\u001b\[[0-9;]*m|[^]/gu;

/** The line up to so many characters; codes for colours take no room and stay. */
function cut(line: string, columns: number): string {
  let room = columns;
  return (line.match(PIECES) ?? []).filter((piece) => piece.startsWith('\u001b') || room-- > 0).join('');
}
