import type { Random } from './random';

/** A stream of an engine with one fault or several in it, and what may be captured of it. */
export interface MalformedStream {
  readonly fault: string;
  readonly bytes: Buffer;
  readonly contentType: string;
  /** The socket is cut after the bytes instead of the stream being ended. */
  readonly isReset: boolean;
  readonly status: number;
}

type Fault = (events: string[], random: Random) => void;

const JUNK = ['\u0000', '}', '"', ',', '{', '\\', ']', '\ufffd', 'data: ', '\n\n', '\r', ': ', 'null'];

/** Faults of whole events. Digits are never changed: other ids would be other ids, and nobody could tell. */
const EVENT_FAULTS: Readonly<Record<string, Fault>> = {
  'an event is missing': (events, random) => void events.splice(random.below(events.length), 1),
  'an event comes twice': (events, random) => {
    const at = random.below(events.length - 1);
    events.splice(at, 0, events[at]!);
  },
  'the end is missing': (events, random) => void events.splice(1 + random.below(events.length - 1)),
  'an event of no JSON': (events, random) => insert(events, random, 'data: not json\n\n'),
  'an event that is a number': (events, random) => insert(events, random, 'data: 17\n\n'),
  'an event that is a list': (events, random) => insert(events, random, 'data: []\n\n'),
  'an error event': (events, random) =>
    insert(events, random, 'data: {"error":{"message":"out of memory","type":"InternalServerError","code":500}}\n\n'),
  'an event named error': (events, random) => insert(events, random, 'event: error\ndata: {"message":"no"}\n\n'),
  'an early end mark': (events, random) => insert(events, random, 'data: [DONE]\n\n'),
  'null in the place of choices': (events, random) => insert(events, random, 'data: {"id":"x","choices":null}\n\n'),
  'a choice that is text': (events, random) => insert(events, random, 'data: {"id":"x","choices":["a"]}\n\n'),
  'ids are null': (events, random) => replaceIn(events, random, /"token_ids":\[\d+\]/, '"token_ids":null'),
  'ids are text': (events, random) => replaceIn(events, random, /"token_ids":\[(\d+)\]/, '"token_ids":["$1"]'),
  'log-probs are null': (events, random) => replaceIn(events, random, /"logprob":-?[\d.]+/, '"logprob":null'),
  'a log-prob is clamped': (events, random) => replaceIn(events, random, /"logprob":-?[\d.]+/, '"logprob":-9999.0'),
  'log-probs are missing': (events, random) =>
    replaceIn(events, random, /"logprobs":\{"content":\[.*?\]\}\]?[^}]*\}/, '"logprobs":null'),
  'the count differs': (events, random) =>
    replaceIn(events, random, /"completion_tokens":\d+/, '"completion_tokens":99'),
  'the prompt count differs': (events, random) =>
    replaceIn(events, random, /"prompt_tokens":\d+/, '"prompt_tokens":99'),
};

function insert(events: string[], random: Random, event: string): void {
  events.splice(random.below(events.length), 0, event);
}

function replaceIn(events: string[], random: Random, pattern: RegExp, replacement: string): void {
  const holders = events.flatMap((event, index) => (pattern.test(event) ? [index] : []));
  if (holders.length === 0) return;
  const index = random.pick(holders);
  events[index] = events[index]!.replace(pattern, replacement);
}

/** Faults of bytes. */
const BYTE_FAULTS: Readonly<Record<string, (bytes: Buffer, random: Random) => Buffer>> = {
  'cut anywhere': (bytes, random) => bytes.subarray(0, random.below(bytes.length)),
  'junk in between': (bytes, random) => {
    const at = random.below(bytes.length);
    return Buffer.concat([bytes.subarray(0, at), Buffer.from(random.pick(JUNK)), bytes.subarray(at)]);
  },
  'bytes of no text': (bytes, random) => {
    const at = random.below(bytes.length);
    return Buffer.concat([bytes.subarray(0, at), Buffer.from([0xff, 0xfe, 0xc0]), bytes.subarray(at)]);
  },
  'a line end is missing': (bytes, random) => {
    const at = bytes.indexOf('\n\n', random.below(bytes.length));
    return at < 0 ? bytes.subarray(0, -1) : Buffer.concat([bytes.subarray(0, at + 1), bytes.subarray(at + 2)]);
  },
  nothing: () => Buffer.alloc(0),
  'a page of a proxy': () => Buffer.from('<html><body><h1>502 Bad Gateway</h1></body></html>'),
};

export function malformedStream(events: readonly string[], random: Random): MalformedStream {
  const faults: string[] = [];
  const distorted = [...events];
  if (random.next() < 0.7) {
    const name = random.pick(Object.keys(EVENT_FAULTS));
    EVENT_FAULTS[name]!(distorted, random);
    faults.push(name);
  }
  let bytes: Buffer = Buffer.from(distorted.join(random.next() < 0.1 ? ': keep-alive\r\n\r\n' : ''));
  if (faults.length === 0 || random.next() < 0.2) {
    const name = random.pick(Object.keys(BYTE_FAULTS));
    bytes = BYTE_FAULTS[name]!(bytes, random);
    faults.push(name);
  }
  return {
    fault: faults.join(' + '),
    bytes,
    contentType:
      random.next() < 0.95 ? 'text/event-stream; charset=utf-8' : random.pick(['text/html', 'application/json']),
    isReset: random.next() < 0.2,
    status: random.next() < 0.97 ? 200 : random.pick([204, 302, 400, 429, 500, 503]),
  };
}
