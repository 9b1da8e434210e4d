type Json = Record<string, unknown>;

/** Memory that a text is kept in until somebody reads it. */
export interface TextMemory {
  take(bytes: number): Buffer;
  /** Called when what was taken is memory for others. */
  add(lease: { giveBack(): void }): void;
}

/** A text in UTF-8; `null` once its memory was given back. */
interface UnreadText {
  utf8: Buffer | null;
}

/**
 * Long contents of messages that nobody has read yet. Most are never read: what a client wrote goes to the engine and into the
 * capture as it is, and a hash takes UTF-8: to decode it and to encode it again would be for nothing.
 */
const unread = new WeakMap<object, UnreadText>();

const CONTENT = 'content';

/** One for all, so that all messages with such a content have the same shape. */
const readWhenAsked: PropertyDescriptor & ThisType<object> = {
  configurable: true,
  enumerable: true,
  get() {
    const text = unread.get(this);
    return text && settled(this, bytesOf(text).toString());
  },
  set(value: unknown) {
    settled(this, value);
  },
};

/** From then on it is a member like any other. */
function settled(message: object, value: unknown): unknown {
  unread.delete(message);
  Object.defineProperty(message, CONTENT, { configurable: true, enumerable: true, writable: true, value });
  return value;
}

/** Better an error than the text of another request. */
function bytesOf({ utf8 }: UnreadText): Buffer {
  if (utf8 === null) throw new Error('the content of a message is read after its request is over');
  return utf8;
}

/**
 * Makes the content of a message a text that is decoded when somebody reads it. It stays a member of its own, in its place: copies,
 * `JSON.stringify` and whoever else walks over the message read it.
 *
 * @param utf8 the text in valid UTF-8
 * @param memory holds it: outside of the heap, where a long text would outlive its request until the next major collection
 */
export function leaveUnread(message: Json, utf8: Buffer, memory: TextMemory): void {
  const text: UnreadText = { utf8 };
  memory.add({ giveBack: () => (text.utf8 = null) });
  unread.set(message, text);
  Object.defineProperty(message, CONTENT, readWhenAsked);
}

/** Whether the message's content is a text that nobody has read. */
export const hasUnread = (message: object): boolean => unread.has(message);

/** The content's text in UTF-8, without outer white space; `null` when somebody has read it, or has to. */
export function unreadUtf8(message: object): Buffer | null {
  const text = unread.get(message);
  return text === undefined ? null : trimmed(bytesOf(text));
}

const isSpace = (byte: number): boolean => byte === 0x20 || (byte >= 0x09 && byte <= 0x0d);
/** The bytes of a character beyond ASCII but its first. */
const isWithin = (byte: number): boolean => (byte & 0xc0) === 0x80;

/** As `trim()` does it; `null` where white space beyond ASCII would have to be looked for. */
function trimmed(utf8: Buffer): Buffer | null {
  let start = 0;
  let end = utf8.length;
  while (start < end && isSpace(utf8[start]!)) start++;
  while (end > start && isSpace(utf8[end - 1]!)) end--;
  let firstEnd = start + 1;
  while (firstEnd < end && isWithin(utf8[firstEnd]!)) firstEnd++;
  let lastStart = end - 1;
  while (lastStart > start && isWithin(utf8[lastStart]!)) lastStart--;
  const isTrimmed = start === end || (isSolid(utf8, start, firstEnd) && isSolid(utf8, lastStart, end));
  return isTrimmed ? utf8.subarray(start, end) : null;
}

const isSolid = (utf8: Buffer, start: number, end: number): boolean => utf8.toString('utf8', start, end).trim() !== '';
