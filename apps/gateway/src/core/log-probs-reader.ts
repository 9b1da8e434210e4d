import { afterEntries, afterMembers, afterNumber, afterValue, isName, isPlain } from './json-scan';

const CONTENT = Buffer.from('content');
const LOG_PROB = Buffer.from('logprob');

/** What stands around the values of an entry as vLLM writes it. */
const [BEFORE_TOKEN, BEFORE_LOG_PROB, BEFORE_BYTES, BEHIND_BYTES] = [
  '{"token":"',
  '","logprob":',
  ',"bytes":[',
  '],"top_logprobs":[]}',
].map((text) => Buffer.from(text)) as [Buffer, Buffer, Buffer, Buffer];
const SPACE = 0x20;
const QUOTE = 0x22;
const COMMA = 0x2c;
const MINUS = 0x2d;
const POINT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;
const BACKSLASH = 0x5c;
const LOWER_E = 0x65;
const UPPER_E = 0x45;
/** A whole number of so many digits is a double, and so is the power of ten that it is divided by: the quotient is rounded once. */
const EXACT_DIGITS = 15;
const POWERS = Array.from({ length: EXACT_DIGITS + 1 }, (_, exponent) => 10 ** exponent);

/** Reads the log-probs of a choice without parsing them: of an entry with text, bytes and alternatives only a number is wanted. */
export class LogProbsReader {
  /** Nats; one for each entry of `logprobs.content`. */
  readonly values: number[] = [];
  private bytes: Buffer = Buffer.alloc(0);
  private hasContent = false;
  /** Values so far. An array that is emptied for each event of a stream would take new memory for each. */
  private count = 0;
  /** Where the entry that was read last stands. */
  readonly lastEntry: [start: number, end: number] = [0, 0];

  /**
   * @param start of the value of `logprobs`
   * @returns where it is over; −1 where it is in another form than `{"content":[{"logprob":-0.5,…},…],…}`
   */
  read(bytes: Buffer, start: number): number {
    this.bytes = bytes;
    this.count = 0;
    this.hasContent = false;
    const end = afterMembers(bytes, start, this.ofLogProbs);
    this.trim();
    return this.hasContent ? end : -1;
  }

  /** @returns where the only entry that begins at `start` is over; −1 where it is not as vLLM writes most */
  readEntry(bytes: Buffer, start: number): number {
    this.bytes = bytes;
    this.count = 0;
    const end = this.afterUsual(start);
    this.trim();
    return end;
  }

  private trim(): void {
    if (this.values.length > this.count) this.values.length = this.count;
  }

  private readonly ofLogProbs = (name: number, nameEnd: number, value: number): number => {
    const { bytes } = this;
    if (!isName(bytes, name, nameEnd, CONTENT)) return isPlain(bytes, name, nameEnd) ? afterValue(bytes, value) : -1;
    if (this.hasContent) return -1;
    this.hasContent = true;
    return afterEntries(bytes, value, this.atEntry);
  };

  private readonly atEntry = (value: number): number => {
    const before = this.count;
    let end = this.afterUsual(value);
    if (end < 0) {
      this.count = before;
      end = afterMembers(this.bytes, value, this.ofEntry);
    }
    this.lastEntry[0] = value;
    this.lastEntry[1] = end;
    return this.count === before + 1 ? end : -1;
  };

  /** Most entries: `{"token":" a","logprob":-0.5,"bytes":[32,97],"top_logprobs":[]}`, no escapes; −1 for any other. */
  private afterUsual(start: number): number {
    const { bytes } = this;
    let position = start + BEFORE_TOKEN.length;
    if (!isName(bytes, start, position, BEFORE_TOKEN)) return -1;
    for (let byte = bytes[position]!; byte !== QUOTE; byte = bytes[++position]!)
      if (!(byte >= SPACE) || byte === BACKSLASH) return -1;
    const number = position + BEFORE_LOG_PROB.length;
    if (!isName(bytes, position, number, BEFORE_LOG_PROB)) return -1;
    position = afterNumber(bytes, number);
    if (position < 0) return -1;
    this.values[this.count++] = this.numberAt(number, position);
    const first = position + BEFORE_BYTES.length;
    if (!isName(bytes, position, first, BEFORE_BYTES)) return -1;
    position = first;
    for (;;) {
      const digit = bytes[position]!;
      if (!(digit >= ZERO && digit <= NINE)) return -1;
      let next = bytes[++position]!;
      if (digit !== ZERO) while (next >= ZERO && next <= NINE) next = bytes[++position]!;
      if (next !== COMMA) break;
      position++;
    }
    const end = position + BEHIND_BYTES.length;
    return isName(bytes, position, end, BEHIND_BYTES) ? end : -1;
  }

  private readonly ofEntry = (name: number, nameEnd: number, value: number): number => {
    const { bytes } = this;
    if (!isName(bytes, name, nameEnd, LOG_PROB)) return isPlain(bytes, name, nameEnd) ? afterValue(bytes, value) : -1;
    const end = afterNumber(bytes, value);
    if (end > 0) this.values[this.count++] = this.numberAt(value, end);
    return end;
  };

  /** What `JSON.parse` makes of it. */
  private numberAt(start: number, end: number): number {
    const { bytes } = this;
    let digits = 0;
    let whole = 0;
    let behindPoint = -1;
    for (let position = bytes[start] === MINUS ? start + 1 : start; position < end; position++) {
      const byte = bytes[position]!;
      if (byte === POINT) behindPoint = 0;
      else if (byte === LOWER_E || byte === UPPER_E || ++digits > EXACT_DIGITS)
        return Number(bytes.toString('latin1', start, end));
      else {
        whole = whole * 10 + byte - ZERO;
        if (behindPoint >= 0) behindPoint++;
      }
    }
    const size = behindPoint > 0 ? whole / POWERS[behindPoint]! : whole;
    return bytes[start] === MINUS ? -size : size;
  }
}
