const BOX = '\\boxed';

/**
 * Content of the last `\boxed{…}` whose braces are balanced; `null` when there is none. Braces inside of the content may nest, and
 * `\{` and `\}` are none. One pass, whatever is left open.
 */
export function lastBox(text: string): string | null {
  /** Where each open brace's content begins, and whether the brace is a box's. */
  const open: { start: number; isBox: boolean }[] = [];
  let last: string | null = null;
  for (let i = 0; i < text.length; i++) {
    const character = text[i];
    if (character === '\\') {
      const brace = boxBrace(text, i);
      if (brace !== null) open.push({ start: brace + 1, isBox: true });
      i = brace ?? i + 1;
    } else if (character === '{') open.push({ start: i + 1, isBox: false });
    else if (character === '}') {
      const closed = open.pop();
      if (closed?.isBox) last = text.slice(closed.start, i);
    }
  }
  return last;
}

/** Where the brace of a `\boxed {` that begins at `at` stands. */
function boxBrace(text: string, at: number): number | null {
  if (!text.startsWith(BOX, at)) return null;
  const brace = at + BOX.length + (text[at + BOX.length] === ' ' ? 1 : 0);
  return text[brace] === '{' ? brace : null;
}
