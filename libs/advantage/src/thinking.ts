const OPEN = '<think>';
const CLOSE = '</think>';

/**
 * What a reasoning model says after it has thought: without `<think>…</think>` blocks, and without anything before a `</think>` whose
 * opening stands in the prompt.
 *
 * @returns `null` when a `<think>` is never closed: the model was cut off before it said anything
 */
export function withoutThinking(text: string): string | null {
  const said: string[] = [];
  let at = 0;
  let open = text.indexOf(OPEN);
  for (;;) {
    // Not searched again when it lies ahead or is nowhere: the work stays linear in the text.
    if (open >= 0 && open < at) open = text.indexOf(OPEN, at);
    const close = text.indexOf(CLOSE, at);
    if (close < 0) {
      if (open >= 0) return null;
      said.push(text.slice(at));
      return said.join('');
    }
    if (open >= 0 && open < close) said.push(text.slice(at, open));
    else said.length = 0;
    at = close + CLOSE.length;
  }
}
