/** Texts are cut to this many characters unless the person asks for all of them. */
const SHOWN_CHARACTERS = 160;

/**
 * The value for a person's eyes: long texts (prompts, base64 arrays) keep their beginning and say how long they were.
 */
export function shortenedValue(value: unknown, shown = SHOWN_CHARACTERS): unknown {
  if (typeof value === 'string')
    return value.length > shown ? `${value.slice(0, shown)}… (${value.length} characters)` : value;
  if (Array.isArray(value)) return value.map((item) => shortenedValue(item, shown));
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, shortenedValue(item, shown)]));
}

/** The bytes of a message as JSON, else as text, else how many they are. */
export function decodedPayload(bytes: Uint8Array): unknown {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return `${bytes.length} bytes that are no text`;
  }
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
