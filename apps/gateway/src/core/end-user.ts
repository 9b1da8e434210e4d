/** OpenAI's fields for the end user; `user` is the older name. */
const FIELDS = ['safety_identifier', 'user'];

/** The end user that a request of OpenAI's APIs names, `null` for none. Only its HMAC is stored. */
export function endUser(request: Readonly<Record<string, unknown>>): string | null {
  for (const field of FIELDS) {
    const value = request[field];
    const text = typeof value === 'string' || typeof value === 'number' ? String(value).trim() : '';
    if (text !== '') return text;
  }
  return null;
}
