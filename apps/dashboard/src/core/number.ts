const MINUS = '−';

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
  return `${value < 0 ? MINUS : '+'}${text}`;
}

/** With a real minus and that many decimals; `null` → “–”. */
export const decimal = (value: number | null, digits = 3): string =>
  value === null ? '–' : value.toFixed(digits).replace('-', MINUS);

/** “1 turn”, “2 turns”. */
export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${whole(count)} ${count === 1 ? one : many}`;

/** The start of an id, enough to tell it from its neighbours. */
export const shortId = (id: string): string => (id.length > 13 ? `${id.slice(0, 8)}…` : id);

/**
 * A number for a person: four significant digits, a real minus sign, groups of thousands, and a power of ten below 0.0001 and from 10⁹ on.
 * `null` is `–`.
 */
export function numberText(value: number | null, significant = 4): string {
  if (value === null) return '–';
  if (!Number.isFinite(value)) return String(value);
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-4 || size >= 1e9)) return powerText(value, significant);
  const text = new Intl.NumberFormat('en-GB', { maximumSignificantDigits: significant }).format(value);
  return text.replace('-', MINUS);
}

/** With its unit, where it has both. */
export const withUnit = (text: string, unit: string | null): string =>
  unit === null || text === '–' ? text : `${text} ${unit}`;

/** Ends of an axis of scores, which are −1, 0 or 1: with room for the points at its ends. */
export const SCORE_RANGE = [-1.05, 1.05] as const;

const SUPERSCRIPTS: Readonly<Record<string, string>> = Object.fromEntries(
  [...'0123456789'].map((digit, at) => [digit, '⁰¹²³⁴⁵⁶⁷⁸⁹'[at]!]).concat([['-', '⁻']]),
);

/** As a power of ten. */
export function powerText(value: number, significant: number): string {
  const [mantissa, exponent] = value.toExponential(significant - 1).split('e');
  const power = [...exponent!.replace('+', '')].map((sign) => SUPERSCRIPTS[sign]).join('');
  return `${String(Number(mantissa)).replace('-', MINUS)} · 10${power}`;
}
