import { breakMarks } from './quote-marks';

/**
 * Text from outside (a user, a web page in a tool result, the policy's own answer) as a judge may see it.
 *
 * A vote is read from the judge's reply by its marks (`\boxed{…}`, `[HINT_START]…[HINT_END]`, or one JSON object). A judge that repeats
 * what it was shown must not thereby vote, so these marks are broken inside every quoted text, in every spelling that a reader could
 * undo. Everything else stays as it was written. The fence carries a random mark that the text cannot know.
 */

/** Breaks everything in `text` that a vote parser, a chat template or a reader of fences could take for a mark. Idempotent, linear. */
export const defuse = (text: string): string => defuseAll([text])[0]!;

/** The same for texts that a judge is shown one after the other: marks are also broken that only two of them together make. */
export const defuseAll = (texts: readonly string[]): string[] => breakMarks(texts.map(clean));

const HALF_CHARACTER = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;
/**
 * Characters that no reader sees and some judges read: controls (a backspace before `oxed{1}` is `\boxed{1}` in JSON), soft hyphens,
 * zero-width spaces, marks and overrides of direction, invisible operators, fillers. Joiners stay: emoji and Persian need them.
 */
const INVISIBLE =
  /[\p{Cc}\p{Default_Ignorable_Code_Point}\ufff9-\ufffb](?<![\t\n\r\p{Join_Control}\p{Variation_Selector}\u{e0000}-\u{e007f}])/gu;
/** Tags spell hidden ASCII; they stay where they spell a flag (🏴󠁧󠁢󠁳󠁣󠁴󠁿). */
const TAGS = /(\u{1f3f4}[\u{e0030}-\u{e0039}\u{e0061}-\u{e007a}]{3,6}\u{e007f})|[\u{e0000}-\u{e007f}]+/gu;
/** One selector varies a character; a row of them spells hidden bytes. */
const SELECTORS = /(\p{Variation_Selector})\p{Variation_Selector}+/gu;
/** Control tokens of chat templates that are no words of their own: matched as a tokenizer matches them, to the letter. */
const ANGLE_TOKEN = /<(?=\/?(?:s|bos|eos|pad|unk|mask|start_of_turn|end_of_turn)>|\/?<?\/?SYS>>|[|｜])/g;
const SQUARE_TOKEN =
  /\[(\/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS|TOOL_CONTENT|IMG|gMASK|CLS|SEP|MASK|PAD|UNK))\]/g;

/** Most of most texts: nothing in it is invisible, half or selected. */
const PLAIN = /^[\t\n\r\x20-\x7e]*$/;

const clean = (text: string): string =>
  (PLAIN.test(text) ? text : visible(text)).replace(ANGLE_TOKEN, '‹').replace(SQUARE_TOKEN, '($1)');

const visible = (text: string): string =>
  text.replace(HALF_CHARACTER, '\ufffd').replace(INVISIBLE, '').replace(TAGS, '$1').replace(SELECTORS, '$1');

/** The name of a tool is a word: what could end its line, close its bracket or belong to a mark becomes `_`. At most 64 characters. */
export const quoteName = (name: string): string =>
  [...defuse(name).replace(/[^\p{L}\p{M}\p{N}_.:/ -]/gu, '_')].slice(0, 64).join('').trim();

/** `text` between two lines that carry the label and the random mark. */
export function fence(label: string, text: string, mark: string): string {
  return `<<<${label} ${mark}>>>\n${text}\n<<<END ${label} ${mark}>>>`;
}
