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

const ID_FIELDS = new Set(['token_ids', 'prompt_token_ids', 'output_token_ids', 'response_token_ids']);

/**
 * Cuts the asked fields out of the JSON text of an answer or a chunk. Every other byte stays: the text is cut, never
 * serialised again, so number spellings, key order, white space and escapes are the engine's.
 *
 * `text` may be a byte string (latin1): only ASCII is looked at.
 */
export function stripFields(text: string, asked: AskedFields, isChunk: boolean): string {
  if (!mayHold(text, asked)) return text;
  return cutMembers(text, (path, value) => {
    const name = path.at(-1)!;
    const inChoice = path.length === 3 && path[0] === 'choices';
    if (asked.tokenIds && ID_FIELDS.has(name) && (path.length === 1 || inChoice)) return true;
    if (asked.logProbs && name === 'logprobs' && inChoice && value !== 'null') return true;
    if (path[0] === 'sglext' && path.length === 2) return asked.extension?.has(name) ?? false;
    if (name === 'sglext' && path.length === 1) return isOurs(JSON.parse(value), asked);
    // With usage asked for, some engines announce `"usage":null` in every other chunk.
    const isNullUsage = name === 'usage' && path.length === 1 && value === 'null';
    return asked.usage && isChunk && isNullUsage && !asked.ownNullUsage;
  });
}

/** The event without the asked fields; `null` when all of it exists only because Hindcast asked: the usage, SGLang's ids. */
export function stripEvent(event: SseEvent, chunk: Record<string, unknown>, asked: AskedFields): Uint8Array | null {
  if (Array.isArray(chunk['choices']) && chunk['choices'].length === 0) {
    if (asked.usage && isObject(chunk['usage'])) return null;
    if (!isObject(chunk['usage']) && isOurs(chunk['sglext'], asked)) return null;
  }
  const bytes = Buffer.from(event.raw.buffer, event.raw.byteOffset, event.raw.byteLength).toString('latin1');
  if (!mayHold(bytes, asked)) return event.raw;
  const dataLines = [...bytes.matchAll(/(^|\r\n|\n|\r)data: ?([^\r\n]*)/g)];
  if (dataLines.length === 1) {
    const line = dataLines[0]!;
    const end = line.index + line[0].length;
    const value = line[2]!;
    return Buffer.from(
      bytes.slice(0, end - value.length) + stripFields(value, asked, true) + bytes.slice(end),
      'latin1',
    );
  }
  // JSON spread over several data lines: cut in the joined text, then give each of its lines its field name back.
  const joined = stripFields(dataLines.map((line) => line[2]).join('\n'), asked, true);
  const others = bytes.split(/\r\n|\n|\r/).filter((line) => line !== '' && !/^data:?/.test(line));
  return Buffer.from([...others, ...joined.split('\n').map((line) => `data: ${line}`), '', ''].join('\n'), 'latin1');
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

interface Member {
  readonly start: number;
  readonly end: number;
  readonly text: string;
  readonly cut: boolean;
}

/**
 * Removes the object members that `shouldCut` names. `path` holds the keys and indices from the root to the member.
 *
 * @throws SyntaxError when the text is not JSON.
 */
export function cutMembers(text: string, shouldCut: (path: readonly string[], value: string) => boolean): string {
  let position = 0;
  const path: string[] = [];
  const fail = (): never => {
    throw new SyntaxError(`not JSON at ${position}`);
  };
  const skipSpace = (): void => {
    while (position < text.length && ' \t\n\r'.includes(text[position]!)) position++;
  };
  const string = (): string => {
    const start = position++;
    while (text[position] !== '"') {
      if (position >= text.length) fail();
      position += text[position] === '\\' ? 2 : 1;
    }
    position++;
    return text.slice(start, position);
  };
  const scalar = (): string => {
    const match = /[^\s,\]}]+/y;
    match.lastIndex = position;
    const found = match.exec(text)?.[0] ?? fail();
    position += found.length;
    return found;
  };
  const value = (): string => {
    skipSpace();
    const first = text[position];
    if (first === '{') return object();
    if (first === '[') return array();
    return first === '"' ? string() : scalar();
  };
  const array = (): string => {
    let out = '[';
    let from = ++position;
    skipSpace();
    if (text[position] === ']') return out + text.slice(from, ++position);
    for (let index = 0; ; index++) {
      skipSpace();
      out += text.slice(from, position);
      path.push(String(index));
      out += value();
      path.pop();
      from = position;
      skipSpace();
      const separator = text[position++];
      if (separator === ']') return out + text.slice(from, position);
      if (separator !== ',') fail();
    }
  };
  const object = (): string => {
    const open = position++;
    const members: Member[] = [];
    skipSpace();
    while (text[position] !== '}') {
      if (text[position] !== '"') fail();
      const start = position;
      const key = string();
      skipSpace();
      if (text[position++] !== ':') fail();
      skipSpace();
      const head = text.slice(start, position);
      path.push(JSON.parse(key) as string);
      const valueStart = position;
      const inner = value();
      const cut = shouldCut(path, text.slice(valueStart, position));
      path.pop();
      members.push({ start, end: position, text: head + inner, cut });
      skipSpace();
      if (text[position] === ',') {
        position++;
        skipSpace();
        if (text[position] === '}') fail();
      } else if (text[position] !== '}') fail();
    }
    const close = position++;
    const first = members[0];
    if (!first) return text.slice(open, position);
    let out = text.slice(open, first.start);
    let hasMember = false;
    members.forEach((member, index) => {
      if (member.cut) return;
      if (hasMember) out += text.slice(members[index - 1]!.end, member.start);
      out += member.text;
      hasMember = true;
    });
    return out + text.slice(members.at(-1)!.end, close + 1);
  };
  skipSpace();
  const lead = text.slice(0, position);
  const body = value();
  const tail = text.slice(position);
  if (tail.trim() !== '') fail();
  return lead + body + tail;
}
