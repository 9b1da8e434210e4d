import { wholeNumbers, type IdsRoom } from './answer-json';
import { withoutPlaces } from './json-cut';
import { afterEntries, afterMembers, afterValue, afterWhole, isName, isPlain, wholeAt } from './json-scan';
import { LogProbsReader } from './log-probs-reader';
import { ID_FIELDS, type AskedFields } from './strip-fields';

/** What a whole answer of one choice says of its tokens, read by itself. */
export interface TokenNumbers {
  readonly promptIds: Int32Array;
  readonly responseIds: readonly number[];
  /** Nats; one for each entry of `logprobs.content`. */
  readonly logProbs: readonly number[];
}

export interface TokenAnswer {
  /** The answer without the fields that only Hindcast asked for: every other byte is the engine's. */
  readonly stripped: Buffer;
  readonly numbers: TokenNumbers;
}

const [CHOICES, PROMPT_IDS, RESPONSE_IDS, LOG_PROBS] = ['choices', 'prompt_token_ids', 'token_ids', 'logprobs'].map(
  (name) => Buffer.from(name),
) as [Buffer, Buffer, Buffer, Buffer];
/** Other fields that may hold ids or log-probs: an answer with one is read in full. */
const OTHERS = [...ID_FIELDS, 'sglext']
  .filter((name) => name !== 'token_ids' && name !== 'prompt_token_ids')
  .map((name) => Buffer.from(name));
const CLOSE_ARRAY = 0x5d;

/**
 * Reads a whole answer as vLLM writes it in one pass: the numbers of its tokens, which are nine tenths of its bytes, need not be parsed,
 * and where they stand they are cut out for the client. What this reads is what `JSON.parse` would have given.
 *
 * @returns `null` for an answer in any other form, or with several choices, or where the client asked for one of the fields itself
 */
export function readTokenAnswer(bytes: Buffer, asked: AskedFields, idsRoom?: IdsRoom): TokenAnswer | null {
  if (!asked.tokenIds || !asked.logProbs || asked.extension) return null;
  return new Reading(bytes, idsRoom).answer();
}

class Reading {
  private readonly scored = new LogProbsReader();
  private readonly responseIds: number[] = [];
  private promptIds: Int32Array | null = null;
  private choices = 0;
  private hasResponseIds = false;
  private hasLogProbs = false;
  private previousEnd = -1;
  private readonly cuts: number[] = [];

  constructor(
    private readonly bytes: Buffer,
    private readonly idsRoom: IdsRoom | undefined,
  ) {}

  answer(): TokenAnswer | null {
    const end = afterMembers(this.bytes, 0, this.ofAnswer);
    const { promptIds, responseIds, choices, hasResponseIds, hasLogProbs } = this;
    if (end !== this.bytes.length || choices !== 1 || !promptIds || !hasResponseIds || !hasLogProbs) return null;
    const numbers = { promptIds, responseIds, logProbs: this.scored.values };
    return { stripped: withoutPlaces(this.bytes, this.cuts) as Buffer, numbers };
  }

  private readonly ofAnswer = (name: number, nameEnd: number, value: number): number => {
    const { bytes } = this;
    let end: number;
    if (isName(bytes, name, nameEnd, CHOICES)) {
      if (this.choices > 0) return -1;
      end = afterEntries(bytes, value, this.ofChoices);
    } else if (isName(bytes, name, nameEnd, PROMPT_IDS)) end = this.cut(this.afterPromptIds(value));
    else end = isName(bytes, name, nameEnd, RESPONSE_IDS) ? -1 : this.other(name, nameEnd, value);
    return (this.previousEnd = end);
  };

  private readonly ofChoices = (value: number): number => {
    if (this.choices++ > 0) return -1;
    this.previousEnd = -1;
    return afterMembers(this.bytes, value, this.ofChoice);
  };

  private readonly ofChoice = (name: number, nameEnd: number, value: number): number => {
    const { bytes } = this;
    let end: number;
    if (isName(bytes, name, nameEnd, RESPONSE_IDS)) {
      if (this.hasResponseIds) return -1;
      this.hasResponseIds = true;
      end = this.cut(afterEntries(bytes, value, this.atId));
    } else if (isName(bytes, name, nameEnd, LOG_PROBS)) {
      if (this.hasLogProbs) return -1;
      this.hasLogProbs = true;
      end = this.cut(this.scored.read(bytes, value));
    } else end = isName(bytes, name, nameEnd, PROMPT_IDS) ? -1 : this.other(name, nameEnd, value);
    return (this.previousEnd = end);
  };

  private readonly atId = (value: number): number => {
    const end = afterWhole(this.bytes, value);
    if (end > 0) this.responseIds.push(wholeAt(this.bytes, value, end));
    return end;
  };

  private afterPromptIds(value: number): number {
    if (this.promptIds) return -1;
    const end = this.bytes.indexOf(CLOSE_ARRAY, value) + 1;
    this.promptIds = end > 0 ? wholeNumbers(this.bytes, value, end, this.idsRoom) : null;
    return this.promptIds ? end : -1;
  }

  /** With the comma before it; the first member would go with the one after it. */
  private cut(end: number): number {
    if (this.previousEnd < 0) return -1;
    if (end > 0) this.cuts.push(this.previousEnd, end);
    return end;
  }

  private other(name: number, nameEnd: number, value: number): number {
    const { bytes } = this;
    const isKnown = OTHERS.some((other) => isName(bytes, name, nameEnd, other));
    return isKnown || !isPlain(bytes, name, nameEnd) ? -1 : afterValue(bytes, value);
  }
}
