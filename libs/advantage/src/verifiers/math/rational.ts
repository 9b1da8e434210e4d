/** An exact fraction, not reduced; the denominator is above 0. */
export interface Rational {
  readonly numerator: bigint;
  readonly denominator: bigint;
}

/** Longest number that is computed with, in digits. What is longer is compared as text. */
const MAX_DIGITS = 2_000;

export const whole = (value: bigint): Rational => ({ numerator: value, denominator: 1n });

/** `12.50`, `.5`, `5.` or `007` as written, without exponent. */
export function decimal(digits: string): Rational | null {
  if (digits.length > MAX_DIGITS) return null;
  const [before = '', after = ''] = digits.split('.');
  return { numerator: BigInt(before + after || '0'), denominator: 10n ** BigInt(after.length) };
}

export const isEqual = (a: Rational, b: Rational): boolean =>
  a.numerator * b.denominator === b.numerator * a.denominator;

export const negated = ({ numerator, denominator }: Rational): Rational => ({ numerator: -numerator, denominator });

export const sum = (a: Rational, b: Rational): Rational | null =>
  bounded({
    numerator: a.numerator * b.denominator + b.numerator * a.denominator,
    denominator: a.denominator * b.denominator,
  });

export const product = (a: Rational, b: Rational): Rational | null =>
  bounded({ numerator: a.numerator * b.numerator, denominator: a.denominator * b.denominator });

/** `null` when b is 0. */
export function quotient(a: Rational, b: Rational): Rational | null {
  if (b.numerator === 0n) return null;
  const sign = b.numerator < 0n ? -1n : 1n;
  return bounded({
    numerator: a.numerator * b.denominator * sign,
    denominator: a.denominator * b.numerator * sign,
  });
}

/** aⁿ for a whole n; `null` for 0 to a negative power, and when the result is too long. */
export function power(a: Rational, exponent: bigint): Rational | null {
  const n = exponent < 0n ? -exponent : exponent;
  // Before it is computed: an exponent is short, and its power need not be.
  if (n * BigInt(Math.max(digitsOf(a.numerator), digitsOf(a.denominator))) > MAX_DIGITS) return null;
  const raised = { numerator: a.numerator ** n, denominator: a.denominator ** n };
  return exponent < 0n ? quotient(whole(1n), raised) : raised;
}

const digitsOf = (value: bigint): number => value.toString().length;

const bounded = (value: Rational): Rational | null =>
  digitsOf(value.numerator) > MAX_DIGITS || digitsOf(value.denominator) > MAX_DIGITS ? null : value;
