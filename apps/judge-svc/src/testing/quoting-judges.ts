import type { JudgePrompt } from '../core/prompts';

/** What of its prompt a judge repeats. */
export const selections: Readonly<Record<string, (prompt: JudgePrompt) => string>> = {
  'the user message': ({ user }) => user,
  'both messages': ({ system, user }) => `${system}\n${user}`,
  'the quoted lines': ({ user }) => quotedLines(user).join('\n'),
  'the quoted lines as one': ({ user }) => quotedLines(user).join(''),
  'the answer': ({ user }) => section(user, 'ANSWER'),
  'the next state': ({ user }) => quotedLines(section(user, 'NEXT STATE')).join('\n'),
  'the last message': ({ user }) =>
    quotedLines(
      section(user, 'NEXT STATE')
        .split(/^\[[^\n]* [0-9a-f]{16}\]$/m)
        .at(-1)!,
    ).join('\n'),
};

/** How a judge changes what it repeats. */
export const manners: Readonly<Record<string, (text: string) => string>> = {
  'word for word': (text) => text,
  'after a sentence': (text) => `The text says the following, which I do not follow: ${text}`,
  'as a JSON string': (text) => JSON.stringify(text),
  'in a JSON object': (text) => JSON.stringify({ reasoning: text }),
  'in upper case': (text) => text.toUpperCase(),
  'in lower case': (text) => text.toLowerCase(),
  NFC: (text) => text.normalize('NFC'),
  NFKC: (text) => text.normalize('NFKC'),
  NFKD: (text) => text.normalize('NFKD'),
  'without accents': (text) => text.normalize('NFD').replace(/\p{M}/gu, ''),
  'in single spaces': (text) => text.replace(/\s+/g, ' '),
  'without spaces': (text) => text.replace(/\s+/g, ''),
  'as a Markdown quotation': (text) => text.replace(/^/gm, '> '),
  'without Markdown': (text) =>
    text
      .replace(/[*`~]/g, '')
      .replace(/\\([_[\]])/g, '$1')
      .replace(/^> /gm, ''),
  'without HTML': unescapeHtml,
  'without HTML, twice': (text) => unescapeHtml(unescapeHtml(text)),
  'as a decoded URL': (text) =>
    text.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(parseInt(hex, 16))),
  'out of a JSON string': unescapeJson,
  'without what is invisible': (text) =>
    text.replace(/[\p{Cf}\p{Default_Ignorable_Code_Point}]/gu, '').replace(/(?![\n\t])\p{Cc}/gu, ''),
  'in Latin letters': (text) => text.replace(/./gu, (char) => LATIN.get(char) ?? char),
  'with hidden tags read': (text) =>
    text.replace(/[\u{e0020}-\u{e007e}]/gu, (char) => String.fromCodePoint(char.codePointAt(0)! - 0xe0000)),
};

const MARKED_LINE = /^(?:<<<.* [0-9a-f]{16}>>>|\[.* [0-9a-f]{16}\]|\[… \d+ (?:characters cut|messages left out) …\])$/;

/** Without fences, heads and notes, as a judge repeats that knows what is quotation and what is not. */
const quotedLines = (user: string): string[] => user.split('\n').filter((line) => !MARKED_LINE.test(line));

const section = (user: string, label: string): string =>
  new RegExp(`<<<${label} [0-9a-f]{16}>>>\n([\\s\\S]*?)\n<<<END ${label} [0-9a-f]{16}>>>`).exec(user)![1]!;

const NAMED: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  bsol: '\\',
  lbrace: '{',
  rbrace: '}',
  lcub: '{',
  rcub: '}',
  lsqb: '[',
  rsqb: ']',
};

function unescapeHtml(text: string): string {
  return text
    .replace(/&#x([0-9a-f]{1,8});?/gi, (whole, hex: string) => character(whole, parseInt(hex, 16)))
    .replace(/&#(\d{1,8});?/g, (whole, decimal: string) => character(whole, Number(decimal)))
    .replace(/&([a-z]+);/gi, (whole, name: string) => NAMED[name] ?? whole);
}

function unescapeJson(text: string): string {
  return text
    .replace(
      /\\u\{([0-9a-f]{1,6})\}|\\u([0-9a-f]{4})|\\x([0-9a-f]{2})/gi,
      (whole, a?: string, b?: string, c?: string) => character(whole, parseInt((a ?? b ?? c)!, 16)),
    )
    .replace(/\\([0-3][0-7]{2})/g, (whole, octal: string) => character(whole, parseInt(octal, 8)))
    .replace(/\\\\/g, '\\')
    .replace(/\\"/g, '"');
}

const character = (whole: string, point: number): string => (point <= 0x10ffff ? String.fromCodePoint(point) : whole);

// Written down apart from the product's own table.
const LATIN = new Map(
  Object.entries({
    а: 'a',
    А: 'A',
    о: 'o',
    О: 'O',
    ο: 'o',
    Ο: 'O',
    х: 'x',
    Х: 'X',
    χ: 'x',
    Χ: 'X',
    е: 'e',
    Е: 'E',
    ε: 'e',
    ԁ: 'd',
    Н: 'H',
    І: 'I',
    і: 'i',
    Т: 'T',
    Τ: 'T',
    т: 't',
    ѕ: 's',
    Ѕ: 'S',
    Ꭲ: 'T',
    ʙ: 'B',
    ᴏ: 'o',
    ᴇ: 'e',
    ᴅ: 'd',
    '∖': '\\',
  }),
);
