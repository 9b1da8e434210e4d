import { CutPlan, cutPlaces } from './json-cut';
import { JsonTextReader } from './json-text';
import { leaveUnread, type TextMemory } from './unread-text';

type Json = Record<string, unknown>;

/** A content of fewer bytes is read like everything else. */
const LONG_CONTENT = 4_096;
const QUOTE = 0x22;

/** Where a long content stands in the JSON of its request, from quote to quote, and what it means. */
interface LongContent {
  readonly start: number;
  readonly end: number;
  readonly utf8: Buffer;
}

/** The JSON of a request with something short in place of each long content of a message. */
export class RequestOutline {
  readonly json: Buffer;

  constructor(
    readonly bytes: Buffer,
    private readonly contents: readonly LongContent[],
    private readonly mark: string,
  ) {
    const pieces: Buffer[] = [];
    let kept = 0;
    for (const [index, { start, end }] of contents.entries()) {
      pieces.push(bytes.subarray(kept, start), Buffer.from(JSON.stringify(placeOf(this.mark, index))));
      kept = end;
    }
    this.json = Buffer.concat([...pieces, bytes.subarray(kept)]);
  }

  /**
   * Gives the messages of the parsed outline their contents, unread.
   *
   * @returns false where not every content has one place of its own, as in a member that is written twice
   */
  fill(body: unknown, memory: TextMemory): boolean {
    const messages = (body as Json | null)?.['messages'];
    if (!Array.isArray(messages)) return false;
    const places = new Map(this.contents.map((content, index) => [placeOf(this.mark, index), content]));
    const found = new Map<LongContent, Json>();
    for (const message of messages as unknown[]) {
      const text = isObject(message) ? message['content'] : undefined;
      const content = typeof text === 'string' ? places.get(text) : undefined;
      if (!content) continue;
      // Of two texts that read the same one is none of ours, and there is no telling which.
      if (found.has(content)) return false;
      found.set(content, message as Json);
    }
    if (found.size !== places.size) return false;
    for (const [{ utf8 }, message] of found) leaveUnread(message, utf8, memory);
    return true;
  }

  /** Where in the request something stands that stands at `position` in the outline, outside of the contents. */
  inRequest(position: number): number {
    let moved = 0;
    for (const [index, { start, end }] of this.contents.entries()) {
      if (position + moved <= start) break;
      moved += end - start - JSON.stringify(placeOf(this.mark, index)).length;
    }
    return position + moved;
  }
}

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null;

/** What stands in the place of a content. */
export const placeOf = (mark: string, index: number): string => `unread content ${mark} ${index}`;

/**
 * @param bytes valid UTF-8; what is not looked at here need not be JSON
 * @param memory holds the contents
 * @param mark known to nobody who writes requests: a content that read like a place would be taken for another's
 * @returns `null` where there is no long content, or something that has to be read as a whole
 */
export function outlineOf(bytes: Buffer, memory: TextMemory, mark: string): RequestOutline | null {
  let reader: JsonTextReader | null = null;
  const contents: LongContent[] = [];
  const step = (start: number): number => {
    if (bytes[start] !== QUOTE) return -1;
    reader ??= new JsonTextReader(bytes, memory.take(bytes.length));
    const from = reader.filled;
    const end = reader.read(start);
    if (end < 0 || reader.filled - from < LONG_CONTENT) reader.filled = from;
    else contents.push({ start, end, utf8: reader.since(from) });
    return end;
  };
  const plan = new CutPlan([{ name: 'messages', into: new CutPlan([{ name: 'content', step }]) }]);
  try {
    cutPlaces(bytes, 0, bytes.length, plan);
  } catch {
    return null;
  }
  return contents.length > 0 ? new RequestOutline(bytes, contents, mark) : null;
}
