import type { SseEvent } from './sse-parser';

type Json = Record<string, unknown>;
const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const HIDDEN = '***';
/** Deeper than any error; what is below is not shown. */
const MAX_DEPTH = 100;

/**
 * The text of an engine's error without the key that the engine got: servers that refuse a key like to quote it. JSON is searched as
 * what it says, since it has many spellings of one string; it is written anew only where the key stands in it.
 *
 * @param key `POLICY_API_KEY`; nothing is hidden without one
 */
export function withoutKey(text: string, key: string | undefined): string {
  if (!key) return text;
  const parsed = parse(text);
  if (parsed === undefined) return hidden(text, key);
  const { value, isChanged } = hiddenIn(parsed, key);
  return isChanged ? JSON.stringify(value) : text;
}

/** The event without the key, if it reports an error; any other as it is. The raw bytes are the engine's own where no key is in them. */
export function errorWithoutKey(event: SseEvent, key: string | undefined): SseEvent {
  if (!key || event.data === null || !reportsError(event)) return event;
  const data = withoutKey(event.data, key);
  const name = event.event === null ? null : hidden(event.event, key);
  if (data === event.data && name === event.event && !holds(event.raw, key)) return event;
  const lines = [...(name === null ? [] : [`event: ${name}`]), ...data.split('\n').map((line) => `data: ${line}`)];
  return { raw: new TextEncoder().encode(`${lines.join('\n')}\n\n`), data, event: name };
}

/** `Retry-After` as it may be passed on: seconds or an HTTP date (RFC 9110 §10.2.3); `null` for anything else. */
export function retryAfterHeader(value: unknown): string | null {
  if (typeof value !== 'string') return null;
  const text = value.trim();
  return /^\d{1,9}(\.\d{1,9})?$/.test(text) || HTTP_DATE.test(text) ? text : null;
}

const HTTP_DATE = /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

function reportsError({ event, data }: SseEvent): boolean {
  if (event === 'error') return true;
  const parsed = parse(data!);
  return isObject(parsed) && parsed['error'] !== undefined && parsed['error'] !== null;
}

/** A string may hold JSON that holds the key. */
const hidden = (text: string, key: string): string =>
  [key, JSON.stringify(key).slice(1, -1), JSON.stringify(JSON.stringify(key).slice(1, -1)).slice(1, -1)].reduce(
    (rest, spelled) => rest.replaceAll(spelled, HIDDEN),
    text,
  );

const holds = (raw: Uint8Array, key: string): boolean => {
  const text = new TextDecoder().decode(raw);
  return hidden(text, key) !== text;
};

interface Shown {
  readonly value: unknown;
  readonly isChanged: boolean;
}

function hiddenIn(value: unknown, key: string, depth = 0): Shown {
  if (typeof value === 'string') return shown(value, hidden(value, key));
  if (typeof value !== 'object' || value === null) return { value, isChanged: false };
  if (depth > MAX_DEPTH) return { value: HIDDEN, isChanged: true };
  const entries = Object.entries(value).map(([name, member]) => ({
    name: shown(name, hidden(name, key)),
    member: hiddenIn(member, key, depth + 1),
  }));
  const isChanged = entries.some(({ name, member }) => name.isChanged || member.isChanged);
  const anew: unknown = Array.isArray(value)
    ? entries.map(({ member }) => member.value)
    : Object.fromEntries(entries.map(({ name, member }) => [name.value, member.value]));
  return { value: anew, isChanged };
}

const shown = (before: unknown, value: unknown): Shown => ({ value, isChanged: before !== value });

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
