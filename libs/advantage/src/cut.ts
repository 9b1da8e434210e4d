// The line that the gateway leaves where it cuts a long text in the middle (apps/gateway/src/core/judge-texts.ts).
const MARK = /\n\[… \d{1,12} characters cut …\]\n/g;

/** What stands after the cut of a text that was cut in the middle; `null` when it is whole. */
export function afterCut(text: string): string | null {
  const last = [...text.matchAll(MARK)].at(-1);
  return last === undefined ? null : text.slice(last.index + last[0].length);
}
