import type { ScoredIds } from './align-log-probs';
import { Positions, type Candidates, type Scores } from './positions';

/**
 * Reads the same numbers as `alignVllm` out of the answer's bytes without parsing them: an answer about 2,000 ids has 2,000 objects with
 * number-like keys, which cost `JSON.parse` more than all the rest of a turn.
 *
 * @param bytes the body, JSON in UTF-8
 * @returns null when the bytes are not exactly what vLLM writes, or the numbers are not what was asked for; `alignVllm` then says what it is
 */
export function scanVllm(bytes: Uint8Array, scored: ScoredIds): Scores | null {
  const start = find(bytes, LIST);
  if (start < 0 || bytes[bytes.length - 1] !== CLOSE_BRACE) return null;
  try {
    return new Scan(bytes, scored).read(start + LIST.length);
  } catch {
    return null;
  }
}

const codes = (text: string): readonly number[] => Array.from(text, (char) => char.charCodeAt(0));

const LIST = codes('"prompt_logprobs":[null');
/**
 * What every candidate of a position begins with. A quotation mark inside a JSON string has a backslash before it, so this cannot stand
 * in the text of a token.
 */
const MARK = codes('{"logprob":');
/** From one mark to the next at least: `{"logprob":0,"rank":1,"decoded_token":"","1":`. */
const STRIDE = 45;
const QUOTE = 34;
const COMMA = 44;
const MINUS = 45;
const POINT = 46;
const ZERO = 48;
const COLON = 58;
const OPEN_BRACE = 123;
const CLOSE_BRACE = 125;

class Scan {
  private readonly positions: Positions;
  /** Of the position that is being read. */
  private readonly candidates: Candidates = { ids: [], logProbs: [], count: 0 };
  private position = 0;

  constructor(
    private readonly bytes: Uint8Array,
    private readonly scored: ScoredIds,
  ) {
    this.positions = new Positions(scored.ids.slice(scored.promptLength), scored.topK);
  }

  read(from: number): Scores | null {
    const { bytes, scored, candidates } = this;
    for (let mark = nextMark(bytes, from); mark >= 0; mark = nextMark(bytes, mark + STRIDE)) {
      const key = keyStart(bytes, mark);
      if (key < 0) return null;
      const before = bytes[key - 2];
      if (before === OPEN_BRACE && this.follows(key - 2)) {
        if (this.position > 0) this.finish();
        candidates.count = 0;
        if (++this.position >= scored.ids.length) return null;
      } else if (before !== COMMA || this.position === 0) return null;
      candidates.ids[candidates.count] = digitsAt(bytes, key);
      candidates.logProbs[candidates.count++] =
        this.position < scored.promptLength ? 0 : numberAt(bytes, mark + MARK.length);
    }
    if (this.position !== scored.ids.length - 1) return null;
    if (this.position > 0) this.finish();
    return this.positions.scores();
  }

  /** The entry that opens there comes right behind the one before it, `}},{`, or behind the null of the first id. */
  private follows(opening: number): boolean {
    const { bytes } = this;
    if (bytes[opening - 1] !== COMMA) return false;
    return this.position === 0 || (bytes[opening - 2] === CLOSE_BRACE && bytes[opening - 3] === CLOSE_BRACE);
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

/**
 * How far the end of the mark may be moved when this byte stands there (Horspool 1980): far, unless the byte is one of the mark's own.
 * A byte of the mark's end moves it by nothing: the mark may stand there.
 */
const SHIFT = new Uint8Array(256).fill(MARK.length);
MARK.forEach((code, i) => (SHIFT[code] = MARK.length - 1 - i));

/** Where the next mark stands. Half of the time is spent here. */
function nextMark(bytes: Uint8Array, from: number): number {
  const { length } = bytes;
  let end = from + MARK.length - 1;
  while (end < length) {
    const shift = SHIFT[bytes[end]!]!;
    if (shift > 0) end += shift;
    else if (stands(bytes, MARK, end - MARK.length + 1)) return end - MARK.length + 1;
    else end++;
  }
  return -1;
}

function find(bytes: Uint8Array, pattern: readonly number[]): number {
  const last = bytes.length - pattern.length;
  for (let at = 0; at <= last; at++) if (stands(bytes, pattern, at)) return at;
  return -1;
}

function stands(bytes: Uint8Array, pattern: readonly number[], at: number): boolean {
  for (let i = 0; i < pattern.length; i++) if (bytes[at + i] !== pattern[i]) return false;
  return true;
}

/** Where the digits of the key of the object at `mark` begin. −1 when what stands there is no `"<digits>":`. */
function keyStart(bytes: Uint8Array, mark: number): number {
  if (bytes[mark - 1] !== COLON || bytes[mark - 2] !== QUOTE) return -1;
  let at = mark - 3;
  while (isDigit(bytes[at])) at--;
  return at < mark - 3 && bytes[at] === QUOTE ? at + 1 : -1;
}

function digitsAt(bytes: Uint8Array, from: number): number {
  let value = 0;
  for (let at = from; isDigit(bytes[at]); at++) value = value * 10 + bytes[at]! - ZERO;
  return value;
}

/**
 * The number up to the next comma, right to the last bit as a float32; NaN when it is none. Its digits are added up, which is off by a few
 * parts in 10^16. Where that decides between two float32s, or the number has an exponent, `Number` decides.
 */
function numberAt(bytes: Uint8Array, from: number): number {
  const sign = bytes[from] === MINUS ? -1 : 1;
  let at = sign < 0 ? from + 1 : from;
  const digitsFrom = at;
  let value = 0;
  let point = -1;
  for (let code = bytes[at]; code !== COMMA; code = bytes[++at]) {
    if (isDigit(code)) value = value * 10 + code! - ZERO;
    else if (code === POINT && point < 0) point = at;
    else return writtenNumber(bytes, from);
  }
  const decimals = point < 0 ? 0 : at - point - 1;
  if (at === digitsFrom || point === digitsFrom || decimals >= POWERS.length) return writtenNumber(bytes, from);
  value /= POWERS[decimals]!;
  const rounded = Math.fround(value * (1 + OFF));
  return rounded === Math.fround(value * (1 - OFF)) ? sign * rounded : writtenNumber(bytes, from);
}

/** More than the sum is off by, relative: a few 2^-53 for each of the at most 20 digits behind the point, and those before it. */
const OFF = 1e-12;
/** 10^n, each exact. */
const POWERS = Array.from({ length: 20 }, (_, n) => Number(`1e${n}`));

function writtenNumber(bytes: Uint8Array, from: number): number {
  let text = '';
  for (let at = from; at < bytes.length && bytes[at] !== COMMA && text.length < 40; at++)
    text += String.fromCharCode(bytes[at]!);
  return /^-?\d+(\.\d+)?([eE][-+]?\d+)?$/.test(text) ? Number(text) : NaN;
}

const isDigit = (code: number | undefined): boolean => code !== undefined && code >= ZERO && code < ZERO + 10;
