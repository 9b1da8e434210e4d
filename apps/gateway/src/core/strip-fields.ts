import { cutPlaces, withoutPlaces, type CutPlan, type CutRule } from './json-cut';
import type { SseEvent } from './sse-parser';

/** What Hindcast asked the engine for although the client had not; exactly this is cut out of the answer. */
export interface AskedFields {
  /** Ids in the choices and at the top level. */
  readonly tokenIds: boolean;
  readonly logProbs: boolean;
  readonly usage: boolean;
  /** Members of SGLang's `sglext`. */
  readonly extension?: ReadonlySet<string>;
  /** The engine writes `"usage":null` into chunks without being asked for usage, as SGLang does. */
  readonly ownNullUsage?: boolean;
}

export const nothingAsked: AskedFields = { tokenIds: false, logProbs: false, usage: false };

const ID_FIELDS = ['token_ids', 'prompt_token_ids', 'output_token_ids', 'response_token_ids'];

/**
 * Cuts the asked fields out of the JSON text of an answer or a chunk. Every other byte stays: the text is cut, never
 * serialised again, so number spellings, key order, white space and escapes are the engine's.
 *
 * `text` may be a byte string (latin1): only ASCII is looked at.
 *
 * @throws SyntaxError when the text is not JSON
 */
export function stripFields(text: string, asked: AskedFields, isChunk: boolean): string {
  if (!mayHold(text, asked)) return text;
  return withoutPlaces(text, cutPlaces(text, 0, text.length, planOf(asked, isChunk)));
}

/** The event without the asked fields; `null` when all of it exists only because Hindcast asked: the usage, SGLang's ids. */
export function stripEvent(event: SseEvent, chunk: Record<string, unknown>, asked: AskedFields): Uint8Array | null {
  if (Array.isArray(chunk['choices']) && chunk['choices'].length === 0) {
    if (asked.usage && isObject(chunk['usage'])) return null;
    if (!isObject(chunk['usage']) && isOurs(chunk['sglext'], asked)) return null;
  }
  const text = Buffer.from(event.raw.buffer, event.raw.byteOffset, event.raw.byteLength).toString('latin1');
  if (!mayHold(text, asked)) return event.raw;
  const end = text.indexOf('\n');
  if (text.startsWith('data:') && end === text.length - 2 && !text.includes('\r')) {
    const places = cutPlaces(text, 'data:'.length, end, planOf(asked, true));
    return places.length === 0 ? event.raw : Buffer.from(withoutPlaces(text, places), 'latin1');
  }
  return Buffer.from(stripLines(text, asked), 'latin1');
}

/** Any event: other line ends, other fields, several data lines. */
function stripLines(text: string, asked: AskedFields): string {
  const dataLines = [...text.matchAll(/(^|\r\n|\n|\r)data: ?([^\r\n]*)/g)];
  if (dataLines.length === 1) {
    const line = dataLines[0]!;
    const end = line.index + line[0].length;
    const value = line[2]!;
    return text.slice(0, end - value.length) + stripFields(value, asked, true) + text.slice(end);
  }
  // JSON spread over several data lines: cut in the joined text, then give each of its lines its field name back.
  const joined = stripFields(dataLines.map((line) => line[2]).join('\n'), asked, true);
  const others = text.split(/\r\n|\n|\r/).filter((line) => line !== '' && !/^data:?/.test(line));
  return [...others, ...joined.split('\n').map((line) => `data: ${line}`), '', ''].join('\n');
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

/** An extension that holds nothing but what Hindcast asked for. */
function isOurs(extension: unknown, { extension: asked }: AskedFields): boolean {
  if (!asked || !isObject(extension)) return false;
  const names = Object.keys(extension);
  return names.length > 0 && names.every((name) => asked.has(name));
}

function mayHold(text: string, asked: AskedFields): boolean {
  return (
    (asked.tokenIds && text.includes('token_ids"')) ||
    (asked.logProbs && text.includes('"logprobs"')) ||
    (asked.usage && text.includes('"usage"')) ||
    (asked.extension !== undefined && text.includes('"sglext"'))
  );
}

const always: CutRule = () => true;
const isNull: CutRule = (text, start, end) => end - start === 4 && text.startsWith('null', start);
const isFilled: CutRule = (text, start, end) => !isNull(text, start, end);
const nowhere: CutPlan = { cut: new Map(), into: new Map() };

/** Plans of answers that are under way: chunks, and whole answers. */
const plans = [true, false].map(() => new WeakMap<AskedFields, CutPlan>());

function planOf(asked: AskedFields, isChunk: boolean): CutPlan {
  const made = plans[isChunk ? 0 : 1]!;
  const known = made.get(asked);
  if (known) return known;
  const plan = newPlan(asked, isChunk);
  made.set(asked, plan);
  return plan;
}

function newPlan(asked: AskedFields, isChunk: boolean): CutPlan {
  const ids = asked.tokenIds ? ID_FIELDS.map((name): [string, CutRule] => [name, always]) : [];
  const choice = new Map([...ids, ...(asked.logProbs ? [['logprobs', isFilled] as const] : [])]);
  const answer = new Map(ids);
  // With usage asked for, some engines announce `"usage":null` in every other chunk.
  if (asked.usage && isChunk && !asked.ownNullUsage) answer.set('usage', isNull);
  const extension = new Map([...(asked.extension ?? [])].map((name): [string, CutRule] => [name, always]));
  if (asked.extension) answer.set('sglext', (text, start, end) => isOurs(JSON.parse(text.slice(start, end)), asked));
  return {
    cut: answer,
    into: new Map([
      ['choices', { ...nowhere, cut: choice }],
      ['sglext', { ...nowhere, cut: extension }],
    ]),
  };
}
