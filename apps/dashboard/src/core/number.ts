/** 1234 → “1,234”. */
export const whole = (value: number): string => new Intl.NumberFormat('en-GB').format(value);

/** 12345 → “12.3K”; exact below 10,000. */
export function short(value: number): string {
  if (Math.abs(value) < 10_000) return whole(value);
  return new Intl.NumberFormat('en-US', { notation: 'compact', maximumFractionDigits: 1 }).format(value);
}

/** 0.123 → “12.3 %”. `null` → “–”. */
export const percent = (share: number | null, digits = 1): string =>
  share === null ? '–' : `${(share * 100).toFixed(digits)} %`;

/** With its sign, a real minus, and that many decimals; `null` → “–”. A value that rounds to 0 has no sign. */
export function signed(value: number | null, digits = 3): string {
  if (value === null) return '–';
  const text = Math.abs(value).toFixed(digits);
  if (Number(text) === 0) return text;
  return `${value < 0 ? '−' : '+'}${text}`;
}

/** With a real minus and that many decimals; `null` → “–”. */
export const decimal = (value: number | null, digits = 3): string =>
  value === null ? '–' : value.toFixed(digits).replace('-', '−');

/** “1 turn”, “2 turns”. */
export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${whole(count)} ${count === 1 ? one : many}`;

/** The start of an id, enough to tell it from its neighbours. */
export const shortId = (id: string): string => (id.length > 13 ? `${id.slice(0, 8)}…` : id);

/** Ends of an axis of scores, which are −1, 0 or 1: with room for the points at its ends. */
export const SCORE_RANGE = [-1.05, 1.05] as const;
