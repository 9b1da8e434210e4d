import type { ScoredIds } from './align-log-probs';
import { Positions, type Candidates, type Scores } from './positions';

const LIST = '"prompt_logprobs":[null';
/**
 * What every candidate of a position begins with. A quotation mark inside a JSON string has a backslash before it, so this cannot stand
 * in the text of a token.
 */
const MARK = '{"logprob":';

/**
 * Reads the same numbers as `alignVllm` out of the answer's text without parsing it: an answer about 2,000 ids has 2,000 objects with
 * number-like keys, which cost `JSON.parse` more than all the rest of a turn.
 *
 * @param text the body as Latin-1, a character for each byte: all that is read is ASCII
 * @returns null when the text is not exactly what vLLM writes, or the numbers are not what was asked for; `alignVllm` then says what it is
 */
export function scanVllm(text: string, scored: ScoredIds): Scores | null {
  const start = text.indexOf(LIST);
  if (start < 0 || !text.endsWith('}') || text.includes('"prompt_logprobs":', start + LIST.length)) return null;
  try {
    return new Scan(text, scored).read(start + LIST.length);
  } catch {
    return null;
  }
}

class Scan {
  private readonly positions: Positions;
  /** Of the position that is being read. */
  private readonly candidates: Candidates = { ids: [], logProbs: [], count: 0 };
  private position = 0;

  constructor(
    private readonly text: string,
    private readonly scored: ScoredIds,
  ) {
    this.positions = new Positions(scored.ids.slice(scored.promptLength), scored.topK);
  }

  read(from: number): Scores | null {
    const { text, scored, candidates } = this;
    for (let mark = text.indexOf(MARK, from); mark >= 0; mark = text.indexOf(MARK, mark + MARK.length)) {
      const opening = keyStart(text, mark);
      if (opening < 0) return null;
      const before = text.charCodeAt(opening - 1);
      if (before === OPEN_BRACE) {
        if (this.position > 0) this.finish();
        candidates.count = 0;
        if (++this.position >= scored.ids.length) return null;
      } else if (before !== COMMA || this.position === 0) return null;
      candidates.ids[candidates.count] = digits(text, opening + 1);
      candidates.logProbs[candidates.count++] =
        this.position < scored.promptLength ? 0 : numberAt(text, mark + MARK.length);
    }
    if (this.position !== scored.ids.length - 1) return null;
    this.finish();
    return this.positions.scores();
  }

  /** Throws when the position is not exactly about its id. */
  private finish(): void {
    const { scored, candidates, position, positions } = this;
    const id = scored.ids[position]!;
    let own = -1;
    for (let i = 0; i < candidates.count; i++) if (candidates.ids[i] === id) own = i;
    if (own < 0) throw new RangeError('another id');
    const t = position - scored.promptLength;
    if (t < 0) return;
    positions.setOwn(t, id, candidates.logProbs[own]);
    positions.setTop(t, candidates);
  }
}

const COLON = 58;
const QUOTE = 34;
const COMMA = 44;
const OPEN_BRACE = 123;
const ZERO = 48;

/** Where the key of the object at `mark` opens: its quotation mark. −1 when what stands there is no `"<digits>":`. */
function keyStart(text: string, mark: number): number {
  if (text.charCodeAt(mark - 1) !== COLON || text.charCodeAt(mark - 2) !== QUOTE) return -1;
  let at = mark - 3;
  while (isDigit(text.charCodeAt(at))) at--;
  return at < mark - 3 && text.charCodeAt(at) === QUOTE ? at : -1;
}

function digits(text: string, from: number): number {
  let value = 0;
  for (let at = from, code = text.charCodeAt(at); isDigit(code); code = text.charCodeAt(++at))
    value = value * 10 + code - ZERO;
  return value;
}

/** The number up to the next comma; NaN when it is none. */
function numberAt(text: string, from: number): number {
  const end = text.indexOf(',', from);
  const written = text.slice(from, end);
  return end > from && /^-?\d/.test(written) ? Number(written) : NaN;
}

const isDigit = (code: number): boolean => code >= ZERO && code < ZERO + 10;
