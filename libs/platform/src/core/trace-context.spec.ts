import { readTraceparent, storedTrace, traceContextOf, writeTraceparent } from './trace-context';

const traceId = '0af7651916cd43dd8448eb211c80319c';
const spanId = 'b7ad6b7169203331';
const known = `00-${traceId}-${spanId}-01`;

it('reads and writes a traceparent', () => {
  expect(readTraceparent(known)).toEqual({ traceId, spanId, isSampled: true });
  expect(readTraceparent(`00-${traceId}-${spanId}-00`)).toEqual({ traceId, spanId, isSampled: false });
  expect(writeTraceparent({ traceId, spanId, isSampled: true })).toBe(known);
  expect(writeTraceparent({ traceId, spanId, isSampled: false })).toBe(`00-${traceId}-${spanId}-00`);
});

it('reads what it knows of a newer version, and of flags that it does not know', () => {
  expect(readTraceparent(`01-${traceId}-${spanId}-09-more`)).toEqual({ traceId, spanId, isSampled: true });
  expect(traceContextOf(`01-${traceId}-${spanId}-ff-more`)).toEqual({ traceparent: known });
});

it.each([
  ['nothing', ''],
  ['a word', 'trace'],
  ['upper case', known.toUpperCase()],
  ['a trace id that is too short', `00-${traceId.slice(1)}-${spanId}-01`],
  ['a trace id of zeros', `00-${'0'.repeat(32)}-${spanId}-01`],
  ['a span id of zeros', `00-${traceId}-${'0'.repeat(16)}-01`],
  ['the version that is none', `ff-${traceId}-${spanId}-01`],
  ['more than version 00 has', `${known}-more`],
  ['two headers in one', `${known}, ${known}`],
  ['a newer version without end', `01-${traceId}-${spanId}-01-${'x'.repeat(1_000)}`],
])('takes %s for no traceparent', (_, text) => {
  expect(readTraceparent(text)).toBeNull();
  expect(traceContextOf(text, 'a=1')).toBeNull();
});

it.each<[string, unknown]>([
  ['none', undefined],
  ['several', [known, known]],
  ['a number', 7],
])('is of no trace where the header is %s', (_, header) => {
  expect(traceContextOf(header)).toBeNull();
});

describe('a tracestate', () => {
  it('is handed on', () => {
    expect(traceContextOf(known, 'rojo=00f067aa0ba902b7, congo=t61rcWkgMzE')).toEqual({
      traceparent: known,
      tracestate: 'rojo=00f067aa0ba902b7,congo=t61rcWkgMzE',
    });
    expect(traceContextOf(known, 'tenant@system=1')).toMatchObject({ tracestate: 'tenant@system=1' });
  });

  it.each<[string, unknown]>([
    ['malformed', 'no member'],
    ['empty', ''],
    ['full of control characters', 'a=\u0000'],
    ['longer than 512 characters', Array.from({ length: 20 }, (_, i) => `k${i}=${'v'.repeat(30)}`).join(',')],
    ['of more than 32 members', Array.from({ length: 33 }, (_, i) => `k${i}=1`).join(',')],
    ['of several headers', ['a=1', 'b=2']],
  ])('that is %s is left out; the trace goes on', (_, state) => {
    expect(traceContextOf(known, state)).toEqual({ traceparent: known });
  });
});

it('reads a record whoever wrote it', () => {
  expect(storedTrace({ traceparent: known, tracestate: 'a=1' })).toEqual({ traceparent: known, tracestate: 'a=1' });
  for (const other of [undefined, null, 'text', 7, [], {}, { traceparent: 1 }]) expect(storedTrace(other)).toBeNull();
});
