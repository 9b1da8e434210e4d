import fc from 'fast-check';
import { SseParser, isDone, type SseEvent } from './sse-parser';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

function parse(pieces: readonly Uint8Array[]): { events: SseEvent[]; raw: string } {
  const parser = new SseParser();
  const events = pieces.flatMap((piece) => parser.push(piece));
  const rest = parser.end();
  if (rest) events.push(rest);
  return { events, raw: events.map(({ raw }) => Buffer.from(raw).toString('latin1')).join('') };
}

const meaning = (events: readonly SseEvent[]): unknown =>
  events.filter(({ data }) => data !== null).map(({ data, event }) => ({ data, event }));

const fixtures = [
  { name: 'plain', text: 'data: {"a":1}\n\ndata: [DONE]\n\n' },
  { name: 'D45 mixed line ends', text: 'data: {"a":"x"}\r\n\r\ndata: {"b":2}\n\n: ping\n\ndata: [DONE]\r\n\r\n' },
  { name: 'lone carriage returns', text: 'data: 1\r\rdata: 2\r\revent: x\rdata: 3\r\r' },
  { name: 'D44 D45 characters of several bytes', text: 'data: {"t":"北京 🎉 e\u0301"}\n\ndata: {"t":"🇨🇭"}\r\n\r\n' },
  {
    name: 'comments, ids, retries, data without a space',
    text: ': a\nid: 7\nretry: 10\ndata:{"x":1}\n\n:\n\ndata:[DONE]\n\n',
  },
  { name: 'several data lines', text: 'data: {"a":\ndata: 1}\n\n' },
  { name: 'a byte-order mark', text: '\ufeffdata: {"a":1}\n\ndata: {"b":2}\n\n' },
  { name: 'a byte-order mark before several lines', text: '\ufeffid: 1\ndata: {"a":1}\n\ndata: [DONE]\n\n' },
  { name: 'no blank line at the end', text: 'data: {"a":1}\n\ndata: [DONE]\r\n' },
];

describe('SseParser', () => {
  it.each(fixtures)('D44 D45 D46 gives the same events cut at every byte: $name', ({ text }) => {
    const all = bytes(text);
    const whole = parse([all]);
    expect(whole.raw).toBe(Buffer.from(all).toString('latin1'));
    for (let cut = 0; cut <= all.length; cut++) {
      const parts = parse([all.slice(0, cut), all.slice(cut)]);
      expect(meaning(parts.events)).toEqual(meaning(whole.events));
      expect(parts.raw).toBe(whole.raw);
    }
    const single = parse([...all].map((byte) => Uint8Array.of(byte)));
    expect(meaning(single.events)).toEqual(meaning(whole.events));
    expect(single.raw).toBe(whole.raw);
  });

  it('keeps every byte of any stream, however it is cut', () => {
    const piece = fc.constantFrom(
      'data: ',
      'data:',
      '\n',
      '\r\n',
      '\r',
      ':c',
      '{"a":"é北🎉"}',
      'event: error',
      'x',
      '[DONE]',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30 }), fc.array(fc.nat(200), { maxLength: 6 }), (pieces, cuts) => {
        const all = bytes(pieces.join(''));
        const at = [0, ...cuts.map((cut) => Math.min(cut, all.length)).sort((a, b) => a - b), all.length];
        const parts = parse(at.slice(1).map((end, index) => all.slice(at[index]!, end)));
        expect(parts.raw).toBe(Buffer.from(all).toString('latin1'));
      }),
      { numRuns: 300 },
    );
  });

  it.each([
    'data: [DONE]\n\n',
    'data:[DONE]\n\n',
    'data: [DONE]\r\n\r\n',
    'data: [DONE]\r\n',
    'data: [DONE]',
    '[DONE]\r\n',
    'data:  [DONE] \n\n',
  ])('D48 knows the end mark %j', (text) => {
    const { events } = parse([bytes(text)]);
    expect(events.some(isDone)).toBe(true);
  });

  it('D49 tells the name of an event', () => {
    expect(parse([bytes('event: error\ndata: {"error":1}\n\n')]).events[0]).toMatchObject({
      event: 'error',
      data: '{"error":1}',
    });
  });

  it('hands an event over with its last byte, not with the next event', () => {
    for (const end of ['\n\n', '\r\n\r\n', '\r\r']) {
      expect(new SseParser().push(bytes(`data: 1${end}`))).toHaveLength(1);
    }
  });

  it('tells where the data of a first event after a byte-order mark stands', () => {
    const [event] = new SseParser().push(bytes('\ufeffdata: {"a":1}\n\n'));
    expect(event).toMatchObject({ data: '{"a":1}', dataStart: 9, dataEnd: 16 });
  });

  // To copy what is there for each piece would take minutes.
  it('takes a large event in very many pieces', () => {
    const parser = new SseParser();
    const piece = bytes('x'.repeat(50));
    parser.push(bytes('data: '));
    for (let index = 0; index < 400_000; index++) parser.push(piece);
    const events = parser.push(bytes('\n\ndata: 2\n\ndata'));
    expect(events.map(({ data }) => data?.length)).toEqual([20_000_000, 1]);
    expect(parser.push(bytes(': 3\n\n')).map(({ data }) => data)).toEqual(['3']);
  });

  it('lends the memory of an event in pieces, and keeps nothing in it that comes after the event', () => {
    const lent: Buffer[] = [];
    const memory = (length: number): { bytes: Buffer; giveBack(): void } => {
      const memory = Buffer.alloc(length);
      lent.push(memory);
      return { bytes: memory, giveBack: () => void memory.fill(0xaa) };
    };
    const parser = new SseParser(undefined, memory);
    const texts: string[] = [];
    const pieces = ['data: 1', '2', '3\n', '\ndata: 4\n\ndat', 'a: 5', '\n\ndata: 6\n\n', 'data: 7\n\n'];
    for (const piece of pieces) {
      const events = parser.push(bytes(piece));
      for (const event of events) {
        texts.push(event.data!);
        expect(parser.isLent(event.raw)).toBe(lent.some(({ buffer }) => buffer === event.raw.buffer));
      }
      parser.taken();
      for (const event of events) expect(parser.isLent(event.raw)).toBe(false);
    }
    expect(texts).toEqual(['123', '4', '5', '6', '7']);
    expect(lent.length).toBeGreaterThan(2);
    expect(lent.every((memory) => memory.every((byte) => byte === 0xaa))).toBe(true);
  });

  it('refuses an event without end', () => {
    const parser = new SseParser(10);
    expect(() => parser.push(bytes('data: 123456'))).toThrow(RangeError);
  });
});
