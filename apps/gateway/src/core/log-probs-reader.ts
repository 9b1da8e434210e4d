import { afterEntries, afterMembers, afterNumber, afterValue, isName, isPlain } from './json-scan';

const CONTENT = Buffer.from('content');
const LOG_PROB = Buffer.from('logprob');

/** Reads the log-probs of a choice without parsing them: of an entry with text, bytes and alternatives only a number is wanted. */
export class LogProbsReader {
  /** Nats; one for each entry of `logprobs.content`. */
  readonly values: number[] = [];
  private bytes: Buffer = Buffer.alloc(0);
  private hasContent = false;

  /**
   * @param start of the value of `logprobs`
   * @returns where it is over; −1 where it is in another form than `{"content":[{"logprob":-0.5,…},…],…}`
   */
  read(bytes: Buffer, start: number): number {
    this.bytes = bytes;
    this.values.length = 0;
    this.hasContent = false;
    const end = afterMembers(bytes, start, this.ofLogProbs);
    return this.hasContent ? end : -1;
  }

  private readonly ofLogProbs = (name: number, nameEnd: number, value: number): number => {
    const { bytes } = this;
    if (!isName(bytes, name, nameEnd, CONTENT)) return isPlain(bytes, name, nameEnd) ? afterValue(bytes, value) : -1;
    if (this.hasContent) return -1;
    this.hasContent = true;
    return afterEntries(bytes, value, this.atEntry);
  };

  private readonly atEntry = (value: number): number => {
    const before = this.values.length;
    const end = afterMembers(this.bytes, value, this.ofEntry);
    return this.values.length === before + 1 ? end : -1;
  };

  private readonly ofEntry = (name: number, nameEnd: number, value: number): number => {
    const { bytes } = this;
    if (!isName(bytes, name, nameEnd, LOG_PROB)) return isPlain(bytes, name, nameEnd) ? afterValue(bytes, value) : -1;
    const end = afterNumber(bytes, value);
    if (end > 0) this.values.push(Number(bytes.toString('latin1', value, end)));
    return end;
  };
}
