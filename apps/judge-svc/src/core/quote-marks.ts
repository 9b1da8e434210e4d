import { fold, type Fold } from './quote-fold';

/** Replace the source of the fold's units `from` to `to` (exclusive) by `by`. */
interface Edit {
  readonly from: number;
  readonly to: number;
  readonly by: string;
}

interface Mark {
  /** On the folded text. Bounded repetitions only, so that any text is read in linear time. */
  readonly pattern: string;
  readonly edit: (match: string, at: number) => Edit;
}

const whole = (name: (match: string) => string) => (match: string, at: number) => ({
  from: at,
  to: at + match.length,
  by: name(match),
});
/** Of the match, the first `sign` becomes `by`; the rest stays as it is written. */
const sign = (sign: string, by: string) => (match: string, at: number) => {
  const from = at + match.indexOf(sign);
  return { from, to: from + 1, by };
};

// Never round brackets: what stands for a replaced mark is in them, and must not become part of another one.
const GAP = '[^a-z0-9()]';

/** What replaces a mark is readable, in no mark's alphabet, and hardly longer. The order decides where two begin at one place. */
const MARKS: readonly Mark[] = [
  {
    // The decision: any backslash before the word, or a number in braces after it where the backslash is of another text or none.
    pattern: `\\\\(?:boxed|fbox|framebox)|boxed(?=\\{(?:\\\\?[a-z]{1,12}\\{)?[^a-z0-9]{0,3}[0-9])`,
    edit: whole((match) => `(${match.replace('\\', '')})`),
  },
  {
    // A hint's block; one bracket is enough, the other one may be in the next text.
    pattern: `\\[${GAP}{0,4}hint${GAP}{0,8}(?:start|end)(?:${GAP}{0,4}\\])?|hint${GAP}{0,8}(?:start|end)${GAP}{0,4}\\]`,
    edit: whole((match) => (match.includes('start') ? '(hint start)' : '(hint end)')),
  },
  {
    // A structured reply as one JSON object.
    pattern: `["']score\\\\{0,4}["']:["'+-]{0,3}[.]?[0-9]`,
    edit: sign(':', '='),
  },
  {
    // A line of the fence.
    pattern: '<{3,}',
    edit: whole((match) => '‹'.repeat(match.length)),
  },
  {
    // Thinking: repeated without its other end it would hide the judge's own vote.
    pattern: `<(?=[/\\\\]{0,2}(?:[a-z]{1,8}:)?(?:think|thought|(?:reasoning|reflection|analysis|scratchpad)>))`,
    edit: sign('<', '‹'),
  },
  { pattern: `\\[(?=[/\\\\]{0,2}think\\])`, edit: sign('[', '(') },
];

const ANY = new RegExp(MARKS.map(({ pattern }) => `(${pattern})`).join('|'), 'g');

/** What a text without any mark may be told by: no mark is made of plain ASCII without one of these signs, or a quotation mark before an `s`. */
const SUSPICIOUS = /[^\t\n\r\x20-\x7e]|[&%\\{[\]<]|["'][\s*`~]*s/i;

/**
 * Breaks every mark in `parts`, which are read as one text: a mark whose halves stand in two parts is one for a judge that repeats
 * both. Parts without a mark come back as they are.
 */
export function breakMarks(parts: readonly string[]): string[] {
  const text = parts.join('');
  if (!SUSPICIOUS.test(text)) return [...parts];
  const folded = fold(text);
  const edits = findEdits(folded);
  if (edits.length === 0) return [...parts];
  const results: string[] = [];
  let next = 0;
  let at = 0;
  let end = 0;
  for (const part of parts) {
    end += part.length;
    let result = '';
    for (; next < edits.length && edits[next]!.from < end; next++) {
      const { from, to, by } = edits[next]!;
      result += text.slice(at, from) + by;
      at = to;
    }
    // A mark that reaches into the next part was replaced in this one.
    results.push(result + text.slice(at, Math.max(at, end)));
    at = Math.max(at, end);
  }
  return results;
}

/** In the order of the text; positions in its source, never overlapping. */
function findEdits({ text, start, end }: Fold): Edit[] {
  const edits: Edit[] = [];
  for (const match of text.matchAll(ANY)) {
    const mark = MARKS.find((_, i) => match[i + 1] !== undefined)!;
    const edit = mark.edit(match[0], match.index);
    const from = Math.max(start[edit.from]!, edits.at(-1)?.to ?? 0);
    const to = end[edit.to - 1]!;
    // One source character may fold to several, the ends of two marks: it is replaced once.
    if (from < to) edits.push({ from, to, by: edit.by });
  }
  return edits;
}
