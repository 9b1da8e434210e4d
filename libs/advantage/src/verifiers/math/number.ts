import { decimal, negated, power, product, quotient, sum, whole, type Rational } from './rational';

/** A number with what stood behind it. */
export interface Quantity {
  readonly value: Rational;
  readonly isPercent: boolean;
  /** As written, without spaces; `''` when there was none. */
  readonly unit: string;
}

/** Groupings of thousands: 1,234,567 · 1{,}234 · 1 234. The decimal sign is the point. */
const GROUPED = /^\d{1,3}(?:(?:,|\{,\})\d{3})+(?:\.\d+)?(?!\d)|^\d{1,3}(?: \d{3})+(?:\.\d+)?(?![\d/])/;
const DECIMAL = /^(?:\d+\.?\d*|\.\d+)/;
const SCIENTIFIC = /^[eE]([+-]?\d{1,4})(?![\d.])/;
const EXPONENT = /^ ?\^ ?(?:\{ ?([+-]?\d{1,6}) ?\}|(\d{1,6}))/;
const UNIT = /^ ?\\text ?\{([^{}]{1,60})\}(?: ?\^ ?\{?([23])\}?|([²³]))?$/;
const PLAIN_UNIT =
  /^ (mm|cm|dm|m|km|in|ft|yd|mi|mg|g|kg|t|ml|l|s|sec|min|h|hr|hours?|minutes?|seconds?|days?|weeks?|months?|years?|met(?:er|re)s?|inch(?:es)?|feet|foot|miles?|square [a-z]{1,20}|cubic [a-z]{1,20}|units?|mph|km\/h|m\/s|kg|dollars?|cents?|euros?|degrees?|percent)(?:\^\{?([23])\}?|([²³]))?$/i;
/** Units that only say how a number is shown. */
const FORMATTING = /^(?:degrees?|dollars?|euros?|units?)$/i;
/** Nested braces and fractions that are followed. */
const MAX_DEPTH = 20;
/** Factors of a product. */
const MAX_FACTORS = 16;

/**
 * The number that a canonical answer is: a sign, a product or quotient of decimals, fractions and powers, or a mixed number; then per cent
 * or a unit. `null` for anything else, such as a sum, a root or a letter: nothing is evaluated beyond what a number is written with.
 */
export function quantity(canonicalAnswer: string): Quantity | null {
  const reader = new Reader(canonicalAnswer);
  const value = reader.signed(0);
  if (value === null) return null;
  const rest = reader.rest();
  if (/^ ?%$|^ ?\\text ?\{ ?per ?cent ?\}$| per ?cent$/i.test(rest)) return { value, isPercent: true, unit: '' };
  const unit = unitOf(rest);
  return unit === null ? null : { value, isPercent: false, unit };
}

function unitOf(rest: string): string | null {
  if (rest.trim() === '') return '';
  const match = UNIT.exec(rest) ?? PLAIN_UNIT.exec(rest);
  if (match === null) return null;
  const name = match[1]!.replace(/[ .]/g, '');
  if (FORMATTING.test(name)) return '';
  const dimension = (match[2] ?? match[3] ?? '').replace('²', '2').replace('³', '3');
  return name.toLowerCase().replace(/s$/, '') + dimension;
}

/** value · 10ⁿ */
function scaled(value: Rational, exponent: bigint): Rational | null {
  const scale = power(whole(10n), exponent);
  return scale && product(value, scale);
}

/** Reads a number from the beginning of a text; every method takes what it reads, and `null` ends all reading. */
class Reader {
  private at = 0;
  constructor(private readonly text: string) {}

  rest(): string {
    return this.text.slice(this.at);
  }

  signed(depth: number): Rational | null {
    const isNegative = this.take(/^ ?[+-] ?/)?.[0].includes('-') ?? false;
    const value = this.product(depth);
    return value !== null && isNegative ? negated(value) : value;
  }

  private product(depth: number): Rational | null {
    let value = this.factor(depth);
    for (let factors = 1; value !== null; factors++) {
      const operator = this.take(/^ ?([*/]) ?/)?.[1];
      if (operator === undefined) return value;
      const next = factors < MAX_FACTORS ? this.factor(depth) : null;
      if (next === null) return null;
      value = operator === '*' ? product(value, next) : quotient(value, next);
    }
    return null;
  }

  private factor(depth: number): Rational | null {
    if (depth > MAX_DEPTH) return null;
    const base = this.operand(depth);
    if (base === null) return null;
    const exponent = this.take(EXPONENT);
    return exponent === null ? base : power(base, BigInt(exponent[1] ?? exponent[2]!));
  }

  // By what it begins with: a part that fails is not read a second time as something else.
  private operand(depth: number): Rational | null {
    if (/^ ?\\frac/.test(this.rest())) return this.fraction(depth);
    return /^[{(]/.test(this.rest()) ? this.enclosed(depth) : this.written(depth);
  }

  /** `\frac{a}{b}` */
  private fraction(depth: number): Rational | null {
    if (this.take(/^ ?\\frac ?(?=\{)/) === null) return null;
    const numerator = this.enclosed(depth);
    const denominator = numerator && this.take(/^ ?(?=\{)/) && this.enclosed(depth);
    return numerator && denominator && quotient(numerator, denominator);
  }

  /** `{a}` or `(a)` */
  private enclosed(depth: number): Rational | null {
    const isBrace = this.take(/^[{(] ?/)?.[0].startsWith('{') ?? false;
    const value = this.signed(depth + 1);
    return value !== null && this.take(isBrace ? /^ ?\}/ : /^ ?\)/) !== null ? value : null;
  }

  /** A decimal, grouped or not, in scientific or plain notation, or a mixed number. */
  private written(depth: number): Rational | null {
    const digits = this.take(GROUPED) ?? this.take(DECIMAL);
    if (digits === null) return null;
    const value = decimal(digits[0].replace(/[,{} ]/g, ''));
    const exponent = this.take(SCIENTIFIC);
    if (value === null) return null;
    if (exponent !== null) return scaled(value, BigInt(exponent[1]!));
    return /\D/.test(digits[0]) ? value : this.mixed(value, depth);
  }

  /** `3\frac{1}{2}` or `3 1/2` after its whole part. */
  private mixed(integer: Rational, depth: number): Rational | null {
    const simple = this.take(/^ (\d{1,20}) ?\/ ?(\d{1,20})(?![\d.])/);
    if (simple !== null) {
      const part = quotient(whole(BigInt(simple[1]!)), whole(BigInt(simple[2]!)));
      return part && sum(integer, part);
    }
    if (!/^ ?\\frac/.test(this.rest())) return integer;
    const part = this.fraction(depth);
    return part && sum(integer, part);
  }

  private take(pattern: RegExp): RegExpExecArray | null {
    const match = pattern.exec(this.rest());
    if (match !== null) this.at += match[0].length;
    return match;
  }
}
