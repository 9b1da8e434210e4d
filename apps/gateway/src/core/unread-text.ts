type Json = Record<string, unknown>;

/**
 * Long contents of messages that nobody has read yet: UTF-8, one byte a character. Most are never read: what a client wrote goes to the
 * engine and into the capture as it is, and a hash takes UTF-8: to decode it and to encode it again would be for nothing.
 */
const unread = new WeakMap<object, string>();

const CONTENT = 'content';

/** One for all, so that all messages with such a content have the same shape. */
const readWhenAsked: PropertyDescriptor & ThisType<object> = {
  configurable: true,
  enumerable: true,
  get() {
    const utf8 = unread.get(this);
    return utf8 === undefined ? undefined : settled(this, Buffer.from(utf8, 'latin1').toString());
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

/**
 * Makes the content of a message a text that is decoded when somebody reads it. It stays a member of its own, in its place: copies,
 * `JSON.stringify` and whoever else walks over the message read it.
 *
 * @param utf8 the text in valid UTF-8, one byte a character
 */
export function leaveUnread(message: Json, utf8: string): void {
  unread.set(message, utf8);
  Object.defineProperty(message, CONTENT, readWhenAsked);
}

/** Whether the message's content is a text that nobody has read. */
export const hasUnread = (message: object): boolean => unread.has(message);

/** The content's text in UTF-8, one byte a character, without outer white space; `null` when somebody has read it, or has to. */
export function unreadUtf8(message: object): string | null {
  const text = unread.get(message);
  return text === undefined ? null : trimmed(text);
}

const isSpace = (byte: number): boolean => byte === 0x20 || (byte >= 0x09 && byte <= 0x0d);
/** The bytes of a character beyond ASCII but its first. */
const isWithin = (byte: number): boolean => (byte & 0xc0) === 0x80;

/** As `trim()` does it; `null` where white space beyond ASCII would have to be looked for. */
function trimmed(utf8: string): string | null {
  let start = 0;
  let end = utf8.length;
  while (start < end && isSpace(utf8.charCodeAt(start))) start++;
  while (end > start && isSpace(utf8.charCodeAt(end - 1))) end--;
  let firstEnd = start + 1;
  while (firstEnd < end && isWithin(utf8.charCodeAt(firstEnd))) firstEnd++;
  let lastStart = end - 1;
  while (lastStart > start && isWithin(utf8.charCodeAt(lastStart))) lastStart--;
  const isTrimmed = start === end || (isSolid(utf8.slice(start, firstEnd)) && isSolid(utf8.slice(lastStart, end)));
  return isTrimmed ? utf8.slice(start, end) : null;
}

const isSolid = (character: string): boolean => Buffer.from(character, 'latin1').toString().trim() !== '';
