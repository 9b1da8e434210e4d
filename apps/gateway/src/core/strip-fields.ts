import { markLength } from './byte-order-mark';
import { CutPlan, cutPlaces, withoutPlaces, type CutMember, type CutRule } from './json-cut';
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

/** Members of a choice, and of a whole answer, that hold ids. */
export const ID_FIELDS = ['token_ids', 'prompt_token_ids', 'output_token_ids', 'response_token_ids'];

/**
 * Cuts the asked fields out of the JSON of an answer or a chunk. Every other byte stays: the bytes are cut, never serialised again,
 * so number spellings, key order, white space and escapes are the engine's.
 *
 * @throws SyntaxError when it is not JSON
 */
export function stripFields(json: Uint8Array, asked: AskedFields, isChunk: boolean): Uint8Array {
  const plan = planOf(asked, isChunk);
  return plan.isEmpty ? json : withoutPlaces(json, cutPlaces(json, markLength(json), json.length, plan));
}

/** The event without the asked fields; `null` when all of it exists only because Hindcast asked: the usage, SGLang's ids. */
export function stripEvent(event: SseEvent, chunk: Record<string, unknown>, asked: AskedFields): Uint8Array | null {
  if (Array.isArray(chunk['choices']) && chunk['choices'].length === 0) {
    if (asked.usage && isObject(chunk['usage'])) return null;
    if (!isObject(chunk['usage']) && isOurs(chunk['sglext'], asked)) return null;
  }
  const { raw, dataStart, dataEnd } = event;
  const plan = planOf(asked, true);
  if (plan.isEmpty) return raw;
  if (dataStart !== undefined && dataEnd !== undefined)
    return withoutPlaces(raw, cutPlaces(raw, dataStart, dataEnd, plan));
  const text = Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength).toString('latin1');
  const stripped = stripLines(text, asked);
  return stripped === text ? raw : Buffer.from(stripped, 'latin1');
}

/** Any event, as a byte string: other line ends, other fields, several data lines. */
function stripLines(text: string, asked: AskedFields): string {
  const strip = (json: string): string =>
    Buffer.from(stripFields(Buffer.from(json, 'latin1'), asked, true)).toString('latin1');
  const dataLines = [...text.matchAll(/(^(?:\xef\xbb\xbf)?|\r\n|\n|\r)data: ?([^\r\n]*)/g)];
  if (dataLines.length === 1) {
    const line = dataLines[0]!;
    const end = line.index + line[0].length;
    const value = line[2]!;
    return text.slice(0, end - value.length) + strip(value) + text.slice(end);
  }
  const whole = dataLines.map((line) => line[2]).join('\n');
  const joined = strip(whole);
  if (joined === whole) return text;
  // JSON spread over several data lines: cut in the joined text, then give each of its lines its field name back.
  const others = text.split(/\r\n|\n|\r/).filter((line) => line !== '' && !/^(?:\xef\xbb\xbf)?data:?/.test(line));
  return [...others, ...joined.split('\n').map((line) => `data: ${line}`), '', ''].join('\n');
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

/** An extension that holds nothing but what Hindcast asked for. */
function isOurs(extension: unknown, { extension: asked }: AskedFields): boolean {
  if (!asked || !isObject(extension)) return false;
  const names = Object.keys(extension);
  return names.length > 0 && names.every((name) => asked.has(name));
}

const always: CutRule = () => true;
const isNull: CutRule = (bytes, start, end) => end - start === 4 && bytes[start] === LETTER_N;
const isFilled: CutRule = (bytes, start, end) => !isNull(bytes, start, end);
/** JSON's only value of four bytes that begins with it is `null`. */
const LETTER_N = 0x6e;

/** Plans of answers that are under way: of chunks, and of whole answers. */
const plans = { chunk: new WeakMap<AskedFields, CutPlan>(), whole: new WeakMap<AskedFields, CutPlan>() };

function planOf(asked: AskedFields, isChunk: boolean): CutPlan {
  const made = isChunk ? plans.chunk : plans.whole;
  let plan = made.get(asked);
  if (!plan) made.set(asked, (plan = newPlan(asked, isChunk)));
  return plan;
}

function newPlan(asked: AskedFields, isChunk: boolean): CutPlan {
  const ids = asked.tokenIds ? ID_FIELDS.map((name): CutMember => ({ name, cut: always })) : [];
  const inChoice: CutMember[] = [...ids, ...(asked.logProbs ? [{ name: 'logprobs', cut: isFilled }] : [])];
  // With usage asked for, some engines announce `"usage":null` in every other chunk.
  const hasNullUsage = asked.usage && isChunk && !asked.ownNullUsage;
  return new CutPlan([
    ...(inChoice.length > 0 ? [{ name: 'choices', into: new CutPlan(inChoice) }] : []),
    ...ids,
    ...(hasNullUsage ? [{ name: 'usage', cut: isNull }] : []),
    ...(asked.extension ? [extensionMember(asked, asked.extension)] : []),
  ]);
}

function extensionMember(asked: AskedFields, names: ReadonlySet<string>): CutMember {
  const cut: CutRule = (bytes, start, end) =>
    isOurs(JSON.parse(Buffer.from(bytes.subarray(start, end)).toString()), asked);
  return { name: 'sglext', cut, into: new CutPlan([...names].map((name) => ({ name, cut: always }))) };
}
