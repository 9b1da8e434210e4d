/**
 * Text from outside (a user, a web page in a tool result, the policy's own answer) as a judge may see it.
 *
 * A vote is read from the judge's reply by its marks (`\boxed{…}`, `[HINT_START]…[HINT_END]`). A judge that repeats what it was shown
 * must not thereby vote, so these marks are broken inside every quoted text. The fence carries a random mark that the text cannot know.
 */

/** Breaks everything in `text` that a vote parser, or a reader of fences, could take for a mark of ours. */
export function defuse(text: string): string {
  return text
    .normalize('NFKC') // look-alike letters and full-width braces become the plain ones that the next lines know
    .replace(/[\u00ad\u200b-\u200f\u2060-\u2064\ufeff]/g, '') // invisible characters could hide a mark from them
    .replace(/\\+\s*boxed/gi, '(boxed)')
    .replace(/\[\s*HINT[\s_-]*(START|END)\s*\]/gi, '(hint $1)')
    .replace(/<{3,}|>{3,}/g, '(fence)');
}

/**
 * At most `budget` characters of `text`; a longer one loses its middle, which the mark says.
 * @param budget characters (UTF-16 units), mark included
 */
export function cutMiddle(text: string, budget: number): string {
  if (text.length <= budget) return text;
  const mark = ` […${text.length - budget} characters cut…] `;
  const kept = Math.max(0, budget - mark.length);
  const head = Math.ceil(kept / 2);
  return (
    text.slice(0, head).replace(/[\ud800-\udbff]$/, '') +
    mark +
    text.slice(text.length - (kept - head)).replace(/^[\udc00-\udfff]/, '')
  );
}

/** `text` between two lines that carry the label and the random mark. */
export function fence(label: string, text: string, mark: string): string {
  return `<<<${label} ${mark}>>>\n${text}\n<<<END ${label} ${mark}>>>`;
}
