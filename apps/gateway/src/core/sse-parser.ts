import { markLength } from './byte-order-mark';

/** One block of a server-sent event stream, up to and including its blank line. */
export interface SseEvent {
  /** The bytes as the engine sent them; all events together are the stream. */
  readonly raw: Uint8Array;
  /** The `data` lines joined by `\n`; `null` for a comment or an empty block. */
  readonly data: string | null;
  readonly event: string | null;
  /** Where in `raw` the data stands, for an event that is nothing but one line of it. */
  readonly dataStart?: number;
  readonly dataEnd?: number;
}

/** Decoded only where somebody reads its text. */
class LineOfData implements SseEvent {
  readonly event = null;
  private text: string | null = null;

  constructor(
    readonly raw: Uint8Array,
    readonly dataStart: number,
    readonly dataEnd: number,
  ) {}

  get data(): string {
    return (this.text ??= decode(this.raw, this.dataStart, this.dataEnd));
  }
}

const LF = 0x0a;
const CR = 0x0d;
const SPACE = 0x20;
const OPEN_OBJECT = 0x7b;
const DATA = [0x64, 0x61, 0x74, 0x61, 0x3a] as const;
const isData = (raw: Uint8Array, at: number): boolean =>
  raw[at] === DATA[0] &&
  raw[at + 1] === DATA[1] &&
  raw[at + 2] === DATA[2] &&
  raw[at + 3] === DATA[3] &&
  raw[at + 4] === DATA[4];
const NOTHING = new Uint8Array(0);

/** Memory for a while. */
export interface EventMemory {
  readonly bytes: Buffer;
  giveBack(): void;
}

const newMemory = (bytes: number): EventMemory => ({ bytes: Buffer.allocUnsafe(bytes), giveBack: () => undefined });

/**
 * Cuts a byte stream into server-sent events (WHATWG HTML, "Server-sent events"). Works on bytes, so that a character, a line
 * end or an event may be cut anywhere; an event is decoded only once it is whole.
 */
export class SseParser {
  /** The event that is not whole yet. */
  private buffer: Uint8Array = NOTHING;
  /** Memory that begins with it, for an event that came in several pieces. */
  private store: EventMemory | null = null;
  /** That of events which were given out. */
  private lent: EventMemory | null = null;
  private isFirst = true;
  private scanned = 0;
  private lineStart = 0;
  /** End of the first line of this event without its line end; −1 until it is whole. */
  private firstLineEnd = -1;
  /** A line of this event ended in a lone `\r`: a `\r` at the end of the buffer is then a whole line end. */
  private loneReturns = false;

  /** @param memory gives at least so many bytes, for events that come in several pieces */
  constructor(
    private readonly maxEventBytes = 64 * 1024 * 1024,
    private readonly memory: (bytes: number) => EventMemory = newMemory,
  ) {}

  /** Whether these bytes are good only until `taken`. */
  isLent(bytes: Uint8Array): boolean {
    return this.lent !== null && bytes.buffer === this.lent.bytes.buffer;
  }

  /** Nobody has a view any more of the lent bytes of the events that `push` gave last. */
  taken(): void {
    this.lent?.giveBack();
    this.lent = null;
  }

  /** @throws RangeError when an event is larger than `maxEventBytes`. */
  push(chunk: Uint8Array): SseEvent[] {
    const buffer = this.buffer.length === 0 ? chunk : this.joined(chunk);
    const events: SseEvent[] = [];
    const { length } = buffer;
    let eventStart = 0;
    let position = this.scanned;
    const ends = new LineEnds(buffer);
    for (;;) {
      position = ends.next(position);
      if (position === length) break;
      let lineEnd = position + 1;
      if (buffer[position] === CR) {
        const atEnd = lineEnd === length;
        if (atEnd && !this.loneReturns) break;
        if (!atEnd && buffer[lineEnd] === LF) lineEnd++;
        else this.loneReturns = true;
      }
      const isBlank = position === this.lineStart;
      if (isBlank) {
        events.push(this.whole(buffer.subarray(eventStart, lineEnd), eventStart));
        eventStart = lineEnd;
        this.loneReturns = false;
        this.firstLineEnd = -1;
      } else if (this.lineStart === eventStart) this.firstLineEnd = position;
      this.lineStart = lineEnd;
      position = lineEnd;
    }
    this.buffer = buffer.subarray(eventStart);
    if (eventStart > 0 && this.store) {
      // What is whole goes out, and its memory goes back without the rest.
      this.buffer = this.buffer.length > 0 ? Buffer.from(this.buffer) : NOTHING;
      this.lent = this.store;
      this.store = null;
    }
    this.scanned = position - eventStart;
    this.lineStart -= eventStart;
    if (this.firstLineEnd >= 0) this.firstLineEnd -= eventStart;
    if (this.buffer.length > this.maxEventBytes)
      throw new RangeError(`an event of more than ${this.maxEventBytes} bytes`);
    return events;
  }

  /** Room is doubled: an event in many pieces would else be copied once for each of them. */
  private joined(chunk: Uint8Array): Uint8Array {
    const { buffer } = this;
    const length = buffer.length + chunk.length;
    let { store } = this;
    if (!store || store.bytes.length < length) {
      const larger = this.memory(store ? 2 * length : length);
      larger.bytes.set(buffer);
      store?.giveBack();
      this.store = store = larger;
    }
    store.bytes.set(chunk, buffer.length);
    return store.bytes.subarray(0, length);
  }

  /** Nearly every event is one line of data; any other is taken apart line by line. `raw` begins at `start` of the buffer. */
  private whole(raw: Uint8Array, start: number): SseEvent {
    const isOneLine = this.firstLineEnd >= 0 && this.lineStart - this.firstLineEnd <= 2;
    // A stream may begin with a byte-order mark, which belongs to no line.
    const lineStart = this.isFirst ? markLength(raw) : 0;
    this.isFirst = false;
    if (!isOneLine || !isData(raw, lineStart)) return parseEvent(raw);
    const valueStart = lineStart + DATA.length;
    const dataStart = valueStart + (raw[valueStart] === SPACE ? 1 : 0);
    const dataEnd = this.firstLineEnd - start;
    return new LineOfData(raw, dataStart, dataEnd);
  }

  /** What is left when the stream has ended: an event without its blank line, or `null`. */
  end(): SseEvent | null {
    if (this.buffer.length === 0) return null;
    const rest = parseEvent(this.buffer);
    this.buffer = NOTHING;
    this.store = null;
    this.scanned = 0;
    this.lineStart = 0;
    return rest;
  }
}

/** Finds the bytes that end lines, each kind only as far as needed: a prompt's ids are one line of a few hundred thousand bytes. */
class LineEnds {
  private lineFeed = -1;
  private carriageReturn = -1;

  constructor(private readonly bytes: Uint8Array) {}

  /** The first one from `position` on; the length of all when there is none. */
  next(position: number): number {
    if (this.lineFeed < position) this.lineFeed = this.find(LF, position);
    if (this.carriageReturn < position) this.carriageReturn = this.find(CR, position);
    return Math.min(this.lineFeed, this.carriageReturn);
  }

  private find(byte: number, position: number): number {
    const found = this.bytes.indexOf(byte, position);
    return found < 0 ? this.bytes.length : found;
  }
}

/** Whether the event is the end mark of an OpenAI stream. */
export const isDone = (event: SseEvent): boolean =>
  (event.dataStart === undefined || event.raw[event.dataStart] !== OPEN_OBJECT) && event.data?.trim() === '[DONE]';

function parseEvent(raw: Uint8Array): SseEvent {
  const dataLines: string[] = [];
  let event: string | null = null;
  for (const line of new TextDecoder().decode(raw).split(/\r\n|\n|\r/)) {
    const colon = line.indexOf(':');
    if (colon === 0) continue;
    const field = colon < 0 ? line : line.slice(0, colon);
    const rest = colon < 0 ? '' : line.slice(colon + 1);
    const value = rest.startsWith(' ') ? rest.slice(1) : rest;
    if (field === 'data') dataLines.push(value);
    else if (field === 'event') event = value;
    // Some servers end with the bare mark.
    else if (line.trim() === '[DONE]') dataLines.push('[DONE]');
  }
  return { raw, data: dataLines.length === 0 ? null : dataLines.join('\n'), event };
}

const decode = (bytes: Uint8Array, start: number, end: number): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8', start, end);
