/** Longest value that is shown; the rest is cut. Characters. */
export const LONGEST_SHOWN = 2_000;

/** A shorter secret keeps nothing secret, and would be found in half of all words. Characters. */
const SHORTEST_SECRET = 4;

/** Names of variables that hold a secret even where their schema does not say so. A name such as `API_KEYS_FILE` is none. */
export const isSecretName = (name: string): boolean => /(KEYS?|SECRET|TOKEN|PASSWORD)$/.test(name);

/** A value of a configuration as its variable would hold it; `null` for one that is unset, as an empty list is. */
export function textOf(value: unknown): string | null {
  if (value === undefined || value === null || (Array.isArray(value) && value.length === 0)) return null;
  if (typeof value === 'boolean') return value ? '1' : '0';
  if (Array.isArray(value)) return value.map((entry) => textOf(entry) ?? '').join(',');
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/** A text without the user and the password of any URL in it. */
export const withoutLogins = (text: string): string => text.replace(/(\w+:\/\/)[^\s,]*@/g, '$1***@');

/** A text in which no secret of four or more characters stands, as it is or as a URL has it; the rest is as it was. */
export function withoutSecrets(text: string, secrets: readonly string[]): string {
  const forms = secrets.flatMap((secret) => [secret, encodeURIComponent(secret), encodeURI(secret)]);
  // The longest first: of two of which one holds the other, no rest may stay.
  const known = [...new Set(forms)]
    .filter((form) => form.length >= SHORTEST_SECRET)
    .sort((a, b) => b.length - a.length);
  return known.reduce((shown, form) => shown.replaceAll(form, '***'), text);
}

/** A text for people: its logins and `secrets` hidden, its end cut where it is long. */
export function shownText(text: string, secrets: readonly string[]): string {
  const shown = withoutSecrets(withoutLogins(text), secrets);
  return shown.length > LONGEST_SHOWN ? `${shown.slice(0, LONGEST_SHOWN)}…` : shown;
}
