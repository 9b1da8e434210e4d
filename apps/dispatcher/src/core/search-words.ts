/** A text taken apart for `to_tsvector`, which takes longer to read a long text than all else takes that is stored of a turn. */
export interface SearchWords {
  /** Words that are lexemes as they are, each once, with blanks between them. */
  readonly words: string;
  /** What is left for PostgreSQL to read: whatever is no plain word, each piece once. */
  readonly rest: string;
}

/** PostgreSQL's parser lets no word go on behind one of these, in any locale. */
const BLANKS = /[ \t\n\v\f\r]+/;
const BLANK = /[ \t\n\v\f\r]/;
/** English letters with punctuation around them. Of a capital I the database's locale knows the small letter. */
const PLAIN = /^["'(]*([a-zA-HJ-Z]{1,64})["')]*[.,;:!?]*["')]*$/;

/**
 * `to_tsvector('simple', text)` without positions has the same lexemes as `words` and `to_tsvector('simple', rest)` together: what stands
 * between blanks is read by itself, and where it stands does not matter. Only a tag goes on behind a blank, so all from the first `<` to
 * the last `>` stays one piece.
 */
export function searchWords(text: string): SearchWords {
  const words = new Set<string>();
  const seen = new Set<string>();
  const rest: string[] = [];
  const take = (part: string): void => {
    for (const piece of part.split(BLANKS)) {
      if (piece === '' || seen.has(piece)) continue;
      seen.add(piece);
      const word = PLAIN.exec(piece)?.[1];
      if (word === undefined) rest.push(piece);
      else words.add(word.toLowerCase());
    }
  };
  const tags = tagsOf(text);
  if (tags === null) take(text);
  else {
    // In their order: a `>` that stood before all tags must not end one that is open at the end.
    take(text.slice(0, tags.from));
    rest.push(text.slice(tags.from, tags.to));
    take(text.slice(tags.to));
  }
  return { words: [...words].join(' '), rest: rest.join(' ') };
}

/** Where tags may lie, with the pieces that they begin and end in. */
function tagsOf(text: string): { from: number; to: number } | null {
  let from = text.indexOf('<');
  let to = text.lastIndexOf('>') + 1;
  if (from === -1 || to <= from) return null;
  while (from > 0 && !BLANK.test(text[from - 1]!)) from--;
  while (to < text.length && !BLANK.test(text[to]!)) to++;
  return { from, to };
}
