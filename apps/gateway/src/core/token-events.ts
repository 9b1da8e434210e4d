import { withoutPlaces } from './json-cut';
import {
  afterEntries,
  afterMembers,
  afterNull,
  afterString,
  afterValue,
  afterWhole,
  isName,
  isPlain,
  wholeAt,
} from './json-scan';
import { LogProbsReader } from './log-probs-reader';
import { TokenEventForm } from './token-event-form';
import type { SseEvent } from './sse-parser';
import { ID_FIELDS, type AskedFields } from './strip-fields';

/** What an event says that says nothing but the next tokens of one choice. Good until the next event is read. */
export interface TokenEvent {
  /** Place of the choice in the response. */
  readonly index: number;
  readonly content: string;
  readonly ids: readonly number[];
  /** Nats; one for each entry of `logprobs.content`. */
  readonly logProbs: readonly number[];
}

/** Members before the choices that are the same in all chunks of a stream, and say nothing of the tokens. */
const HEAD_MEMBERS = new Set(['id', 'object', 'created', 'model', 'system_fingerprint', 'service_tier', 'choices']);
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const CLOSE_OBJECT = 0x7d;
/** Streams in another form are not looked at again and again. */
const MAX_TRIES = 4;

const NAMES = ['index', 'delta', 'logprobs', 'finish_reason', 'token_ids'];
const [INDEX, DELTA, LOG_PROBS, FINISH_REASON, TOKEN_IDS] = [0, 1, 2, 3, 4];
const NAME_BYTES = NAMES.map((name) => Buffer.from(name));
const ALL = (1 << NAMES.length) - 1;
const CONTENT = Buffer.from('content');
/** Cut out whatever they hold. */
const OTHER_IDS = ID_FIELDS.filter((name) => !NAMES.includes(name)).map((name) => Buffer.from(name));

/**
 * Reads the events that a stream mostly consists of, those with the text, the ids and the log-probs of the next tokens, in one pass and
 * without parsing them: they begin like the events before them, and go on in a known form. Any other event, whatever is different
 * about it, is left to `JSON.parse`; what this reads is what that would have given. It makes nothing anew for an event: there are many.
 */
export class TokenEvents implements TokenEvent {
  index = 0;
  content = '';
  readonly ids: number[] = [];
  private idCount = 0;

  /** How every event begins, up to its first choice; `null` until one was parsed. */
  private head: Buffer | null = null;
  private tries = 0;
  private bytes: Buffer = Buffer.alloc(0);
  /** The known members so far, a bit for each. */
  private seen = 0;
  private hasContent = false;
  private readonly scored = new LogProbsReader();
  private previousEnd = -1;
  /** Pairs of start and end. */
  private readonly cuts: number[] = [];
  /** Of the event that was read last, where nothing of it is the client's own. */
  private form: TokenEventForm | null = null;
  private formTries = 0;
  private readonly places = { text: [0, 0] as [number, number], id: [0, 0] as [number, number] };

  constructor(private readonly asked: AskedFields) {}

  get logProbs(): readonly number[] {
    return this.scored.values;
  }

  /** Learns how the stream's events begin from one that was parsed. */
  learn({ raw, dataStart }: SseEvent): void {
    if (this.head || dataStart === undefined || this.tries++ >= MAX_TRIES) return;
    const bytes = bufferOf(raw);
    let choices = -1;
    afterMembers(bytes, dataStart, (name, nameEnd, value) => {
      const member = bytes.toString('latin1', name, nameEnd);
      if (member === 'choices' && bytes[value] === OPEN_ARRAY) choices = value + 1;
      return choices < 0 && HEAD_MEMBERS.has(member) ? afterValue(bytes, value) : -1;
    });
    // A copy: what the engine sent goes when it is read.
    if (choices > 0) this.head = Buffer.from(bytes.subarray(0, choices));
  }

  /** @returns the event without the asked fields; `null` for an event of any other form */
  read({ raw, dataEnd }: SseEvent): Uint8Array | null {
    const { head } = this;
    if (!head || dataEnd === undefined || raw.length <= head.length) return null;
    const bytes = (this.bytes = bufferOf(raw));
    const alike = this.form?.read(bytes, this.scored);
    if (alike) {
      const { index, content, id } = this.form!;
      this.index = index;
      this.content = content;
      this.ids[0] = id;
      this.trimIds(1);
      return alike;
    }
    if (head.compare(bytes, 0, head.length) !== 0) return null;
    this.seen = this.idCount = this.cuts.length = 0;
    this.hasContent = false;
    this.previousEnd = -1;
    const end = afterMembers(bytes, head.length, this.ofChoice);
    this.trimIds(this.idCount);
    const isWhole = end === dataEnd - 2 && bytes[end] === CLOSE_ARRAY && bytes[end + 1] === CLOSE_OBJECT;
    if (!isWhole || this.seen !== ALL || !this.hasContent) return null;
    this.learnForm();
    return withoutPlaces(bytes, joined(this.cuts));
  }

  /** An array that is emptied for each event would take new memory for each. */
  private trimIds(count: number): void {
    if (this.ids.length > count) this.ids.length = count;
  }

  private learnForm(): void {
    const { asked, ids, scored, places, cuts } = this;
    const isOneToken = ids.length === 1 && scored.values.length === 1;
    if (!asked.tokenIds || !asked.logProbs || !isOneToken || this.formTries >= MAX_TRIES) return;
    this.formTries++;
    this.form = TokenEventForm.of(this.index, this.bytes, { ...places, entry: scored.lastEntry }, cuts);
  }

  private readonly ofChoice = (name: number, nameEnd: number, value: number): number => {
    const known = this.known(name, nameEnd);
    const end = known < 0 ? this.other(name, nameEnd, value) : this.member(known, value);
    if (known === TOKEN_IDS ? this.asked.tokenIds : known === LOG_PROBS && this.asked.logProbs) {
      // With the comma before it; the first one would go with the one after it.
      if (this.previousEnd < 0) return -1;
      this.cuts.push(this.previousEnd, end);
    }
    return (this.previousEnd = end);
  };

  private known(name: number, nameEnd: number): number {
    for (let known = 0; known < NAME_BYTES.length; known++)
      if (isName(this.bytes, name, nameEnd, NAME_BYTES[known]!)) return known;
    return -1;
  }

  /** Whatever it is called, it says nothing with `null`; the client gets it unless it is one of the asked fields. */
  private other(name: number, nameEnd: number, value: number): number {
    const { bytes } = this;
    if (OTHER_IDS.some((ids) => isName(bytes, name, nameEnd, ids))) return -1;
    return isPlain(bytes, name, nameEnd) ? afterNull(bytes, value) : -1;
  }

  private member(known: number, value: number): number {
    const { bytes } = this;
    const bit = 1 << known;
    if (this.seen & bit) return -1;
    this.seen |= bit;
    if (known === INDEX) return this.atIndex(value);
    if (known === DELTA) return afterMembers(bytes, value, this.ofDelta);
    if (known === LOG_PROBS) return this.scored.read(bytes, value);
    return known === FINISH_REASON ? afterNull(bytes, value) : afterEntries(bytes, value, this.atId);
  }

  private atIndex(value: number): number {
    const end = afterWhole(this.bytes, value);
    if (end > 0) this.index = wholeAt(this.bytes, value, end);
    return end;
  }

  private readonly atId = (value: number): number => {
    const end = afterWhole(this.bytes, value);
    if (end > 0) this.ids[this.idCount++] = wholeAt(this.bytes, value, end);
    this.places.id = [value, end];
    return end;
  };

  private readonly ofDelta = (name: number, nameEnd: number, value: number): number => {
    const { bytes } = this;
    if (!isName(bytes, name, nameEnd, CONTENT)) return this.other(name, nameEnd, value);
    const end = afterString(bytes, value);
    if (end < 0 || this.hasContent) return -1;
    this.hasContent = true;
    this.content = textOf(bytes, value, end);
    this.places.text = [value + 1, end - 1];
    return end;
  };
}

/** Neighbours as one: what `cutPlaces` would give. */
const joined = (places: readonly number[]): readonly number[] =>
  places.length === 4 && places[1] === places[2] ? [places[0]!, places[3]!] : places;

/** @param start of its opening quote */
function textOf(bytes: Buffer, start: number, end: number): string {
  if (isPlain(bytes, start, end)) return bytes.toString('utf8', start + 1, end - 1);
  return JSON.parse(bytes.toString('utf8', start, end)) as string;
}

const bufferOf = (bytes: Uint8Array): Buffer =>
  Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
