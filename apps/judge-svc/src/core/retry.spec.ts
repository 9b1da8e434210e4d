import { mayRefuseFormat, prospectOf, readRetryAfter, retryDelayMs } from './retry';

it.each([
  { status: 429, again: true, broken: false, why: 'the judge is well, and asks for patience' },
  { status: 408, again: true, broken: true, why: 'too slow' },
  { status: 500, again: true, broken: true, why: 'in trouble' },
  { status: 503, again: true, broken: true, why: 'in trouble' },
  { status: 401, again: true, broken: true, why: 'the key: the next prompt fares no better' },
  { status: 402, again: true, broken: true, why: 'the bill' },
  { status: 404, again: true, broken: true, why: 'the model, or the address' },
  { status: 400, again: false, broken: false, why: 'this prompt' },
  { status: 413, again: false, broken: false, why: 'this prompt' },
  { status: 422, again: false, broken: false, why: 'this prompt' },
  { status: 302, again: false, broken: false, why: 'no answer of a judge' },
])('$status: $why', ({ status, again, broken }) => expect(prospectOf(status)).toEqual({ again, broken }));

const now = Date.parse('Mon, 30 Nov 2026 12:00:00 GMT');
it.each([
  { header: undefined, ms: null, why: 'no word' },
  { header: '0', ms: 0, why: 'at once' },
  { header: '7', ms: 7_000, why: 'seconds' },
  { header: ' 7 ', ms: 7_000, why: 'seconds with space around' },
  { header: 'Mon, 30 Nov 2026 12:00:05 GMT', ms: 5_000, why: 'a date' },
  { header: 'Mon, 30 Nov 2026 11:59:00 GMT', ms: 0, why: 'a date that is past' },
  { header: '1.5', ms: null, why: 'no fractions in the protocol' },
  { header: '-3', ms: null, why: 'no negative time' },
  { header: 'soon', ms: null, why: 'no word that can be read' },
  { header: '', ms: null, why: 'nothing' },
])('Retry-After $header: $why', ({ header, ms }) => expect(readRetryAfter(header, now)).toBe(ms));

it.each([
  { attempt: 1, asked: null, random: 0.5, ms: 200, why: 'the first delay' },
  { attempt: 3, asked: null, random: 0.5, ms: 800, why: 'doubles' },
  { attempt: 99, asked: null, random: 0.5, ms: 5_000, why: 'up to the longest' },
  { attempt: 1, asked: null, random: 0, ms: 100, why: 'half at least' },
  { attempt: 1, asked: 3_000, random: 0, ms: 3_000, why: 'never before what was asked' },
  { attempt: 1, asked: 3_000, random: 0.5, ms: 3_250, why: 'but not all at the same instant' },
  { attempt: 1, asked: 1e15, random: 0.5, ms: 3_600_000, why: 'a timer bears no ages' },
  { attempt: 9, asked: 0, random: 0.5, ms: 5_000, why: '"at once" does not undo the back-off' },
])('$why', ({ attempt, asked, random, ms }) => expect(retryDelayMs(attempt, asked, random)).toBe(ms));

it.each([
  { status: 400, body: '', may: true },
  { status: 404, body: '', may: true },
  { status: 422, body: '', may: true },
  { status: 500, body: 'response_format type must be one of', may: true },
  { status: 500, body: 'out of memory', may: false },
  { status: 401, body: 'response_format', may: false },
  { status: 429, body: 'json_schema', may: false },
])('$status $body may be about the schema: $may', ({ status, body, may }) =>
  expect(mayRefuseFormat(status, body)).toBe(may),
);
