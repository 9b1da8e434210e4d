import { withoutPlaces } from './json-cut';
import { afterWhole, isName, wholeAt } from './json-scan';
import type { LogProbsReader } from './log-probs-reader';

const SPACE = 0x20;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** Where in an event the values of its only token stand, each with its end. */
export interface TokenPlaces {
  /** Without its quotes. */
  readonly text: readonly [number, number];
  /** The entry of the log-probs. */
  readonly entry: readonly [number, number];
  readonly id: readonly [number, number];
}

/**
 * What the events with one token of a choice have in common: all but the text, the entry of the log-probs and the id. Nearly all events
 * of a stream have the form of the one before, and such a one is read by comparing bytes.
 */
export class TokenEventForm {
  content = '';
  id = 0;

  private constructor(
    /** Place of the choice in the response. */
    readonly index: number,
    private readonly beforeText: Buffer,
    private readonly beforeEntry: Buffer,
    private readonly beforeId: Buffer,
    private readonly behindId: Buffer,
    /** What the client gets behind the text. */
    private readonly rest: Buffer,
  ) {}

  /**
   * @param bytes an event of this choice that was read, from its first byte to its last
   * @param cuts places of its log-probs and ids, which the client does not get
   * @returns `null` where its parts come in another order
   */
  static of(
    index: number,
    bytes: Buffer,
    { text, entry, id }: TokenPlaces,
    cuts: readonly number[],
  ): TokenEventForm | null {
    const isInOrder = text[1] < entry[0] && entry[1] < id[0];
    if (!isInOrder || !isWithin(cuts, entry) || !isWithin(cuts, id) || cuts[0]! < text[1]) return null;
    // Copies: what the engine sent goes when it is read.
    const part = (from: number, to: number): Buffer => Buffer.from(bytes.subarray(from, to));
    return new TokenEventForm(
      index,
      part(0, text[0]),
      part(text[1], entry[0]),
      part(entry[1], id[0]),
      part(id[1], bytes.length),
      Buffer.from(withoutPlaces(bytes, cuts).subarray(text[1])),
    );
  }

  /** @returns the event without log-probs and ids; `null` where it has another form, or escapes */
  read(bytes: Buffer, scored: LogProbsReader): Uint8Array | null {
    const { beforeText, beforeEntry, beforeId, behindId, rest } = this;
    const text = beforeText.length;
    // It is long: the system's comparison takes less than a loop.
    if (bytes.length < text || beforeText.compare(bytes, 0, text) !== 0) return null;
    let textEnd = text;
    for (let byte = bytes[textEnd]!; byte !== QUOTE; byte = bytes[++textEnd]!)
      if (!(byte >= SPACE) || byte === BACKSLASH) return null;
    const entry = textEnd + beforeEntry.length;
    if (!isName(bytes, textEnd, entry, beforeEntry)) return null;
    const entryEnd = scored.readEntry(bytes, entry);
    if (entryEnd < 0) return null;
    const id = entryEnd + beforeId.length;
    if (!isName(bytes, entryEnd, id, beforeId)) return null;
    const idEnd = afterWhole(bytes, id);
    if (idEnd < 0 || !isName(bytes, idEnd, bytes.length, behindId)) return null;
    this.content = bytes.toString('utf8', text, textEnd);
    this.id = wholeAt(bytes, id, idEnd);
    const written = Buffer.allocUnsafe(textEnd + rest.length);
    written.set(beforeText);
    for (let index = text; index < textEnd; index++) written[index] = bytes[index]!;
    written.set(rest, textEnd);
    return written;
  }
}

function isWithin(cuts: readonly number[], [start, end]: readonly [number, number]): boolean {
  for (let index = 0; index < cuts.length; index += 2)
    if (cuts[index]! <= start && end <= cuts[index + 1]!) return true;
  return false;
}
