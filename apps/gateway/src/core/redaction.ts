import type { PairTexts } from './judge-texts';

type Json = Record<string, unknown>;

/** Replaces what must not be stored in a text; a text without any comes back as it is. */
export type Redact = (text: string) => string;

/** Longest run of digits of a card number, and the shortest (ISO/IEC 7812). */
const CARD_DIGITS = { min: 13, max: 19 };

/**
 * The built-in patterns, each with the mark that takes its place. A key pattern stands before a number pattern: keys hold long runs of
 * digits.
 */
const PATTERNS: readonly {
  readonly mark: string;
  readonly pattern: RegExp;
  readonly holds?: (found: string) => boolean;
}[] = [
  { mark: '[key]', pattern: /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g },
  // Prefixes that the issuers document: OpenAI, Anthropic, GitHub, GitLab, Slack, AWS, Google, Stripe, Hugging Face, npm.
  {
    mark: '[key]',
    pattern:
      /\b(?:sk-[\w-]{16,}|gh[opusr]_\w{20,}|github_pat_\w{20,}|glpat-[\w-]{16,}|xox[abprs]-[\w-]{10,}|A(?:KIA|SIA)[0-9A-Z]{16}|AIza[\w-]{30,}|[rs]k_(?:live|test)_\w{10,}|hf_\w{20,}|npm_\w{20,})/g,
  },
  { mark: '[key]', pattern: /\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]{8,}/g },
  { mark: '[email]', pattern: /[\p{L}\p{N}._%+'-]{1,64}@(?:[\p{L}\p{N}-]{1,63}\.){1,8}\p{L}{2,63}/gu },
  { mark: '[card]', pattern: /(?<![\d.])\d(?:[ -]?\d){12,18}(?![\d])/g, holds: isCardNumber },
  {
    mark: '[phone]',
    pattern:
      /(?<![\w.])(?:\+\d{1,3}[ .-]?)?(?:\(\d{1,5}\)[ .-]?)?\d{2,5}(?:[ .-]\d{2,8}){1,5}(?![\w:]|\.\d)|(?<![\w.])\+\d{7,15}(?!\d)/g,
    holds: isPhoneNumber,
  },
];

/** E-mail addresses, phone numbers, payment cards and keys. Patterns find the common spellings, not every one. */
export const redactPersonalData: Redact = (text) =>
  PATTERNS.reduce(
    (rest, { mark, pattern, holds }) => rest.replace(pattern, (found) => (holds && !holds(found) ? found : mark)),
    text,
  );

/** Luhn's check digit over all digits. */
function isCardNumber(found: string): boolean {
  const digits = found.replace(/\D/g, '');
  if (digits.length < CARD_DIGITS.min || digits.length > CARD_DIGITS.max) return false;
  let sum = 0;
  for (let index = 0; index < digits.length; index++) {
    const digit = Number(digits[digits.length - 1 - index]);
    const value = index % 2 === 1 ? digit * 2 : digit;
    sum += value > 9 ? value - 9 : value;
  }
  return sum % 10 === 0;
}

/** Seven to fifteen digits (ITU-T E.164); neither a date nor an IPv4 address. */
function isPhoneNumber(found: string): boolean {
  const digits = found.replace(/\D/g, '').length;
  const isDate = /^(?:\d{4}[.-]\d{1,2}[.-]\d{1,2}|\d{1,2}[.-]\d{1,2}[.-]\d{4})(?:\D|$)/.test(found);
  const isAddress = /^\d{1,3}(?:\.\d{1,3}){3}$/.test(found);
  return digits >= 7 && digits <= 15 && !isDate && !isAddress;
}

export const redactTexts = (texts: PairTexts, redact: Redact): PairTexts => ({
  conversation: texts.conversation.map((message) => ({ ...message, text: redact(message.text) })),
  answer: redact(texts.answer),
  nextState: texts.nextState.map((message) => ({ ...message, text: redact(message.text) })),
});

/** Whether a value holds a text, at any depth, that `redact` would change. Embedded media are not looked into. */
export function holdsRedacted(value: unknown, redact: Redact): boolean {
  if (typeof value === 'string') return !value.startsWith('data:') && redact(value) !== value;
  if (typeof value !== 'object' || value === null) return false;
  return Object.values(value as Json).some((entry) => holdsRedacted(entry, redact));
}
