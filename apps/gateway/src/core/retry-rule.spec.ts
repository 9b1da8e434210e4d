import { isRepeatable, retriesLeft, retryAfterMs, retryReason, retryWaitMs, type AttemptEnd } from './retry-rule';

const chat = { isRepeatable: true, retryCut: false, cuts: 0 };
const stored = { ...chat, isRepeatable: false };
const status = (code: number): AttemptEnd => ({ kind: 'status', status: code });

describe('whether a request is sent again', () => {
  it.each([
    { why: 'it never arrived', end: { kind: 'unreachable' }, of: chat, reason: 'unreachable' },
    {
      why: 'it never arrived, so nothing is kept twice',
      end: { kind: 'unreachable' },
      of: stored,
      reason: 'unreachable',
    },
    { why: 'refused for now', end: status(429), of: chat, reason: 'status-429' },
    { why: 'refused for now, so nothing is kept twice', end: status(503), of: stored, reason: 'status-503' },
    { why: 'a proxy lost the engine', end: status(502), of: chat, reason: 'status-502' },
    { why: 'a proxy lost the engine, which may have kept the answer', end: status(502), of: stored, reason: null },
    { why: 'a proxy gave up waiting', end: status(504), of: chat, reason: 'status-504' },
    { why: 'a proxy gave up waiting, the engine may have kept the answer', end: status(504), of: stored, reason: null },
    { why: 'D22 the engine would fail again', end: status(500), of: chat, reason: null },
    { why: 'not implemented stays so', end: status(501), of: chat, reason: null },
    { why: 'a bad request stays bad', end: status(400), of: chat, reason: null },
    { why: 'an unknown model stays unknown', end: status(404), of: chat, reason: null },
    { why: 'a wrong key stays wrong', end: status(401), of: chat, reason: null },
    { why: 'the request may be what killed the engine', end: { kind: 'cut' }, of: { ...chat, cuts: 1 }, reason: null },
    { why: 'cut, wanted', end: { kind: 'cut' }, of: { ...chat, retryCut: true, cuts: 1 }, reason: 'cut' },
    { why: 'cut twice', end: { kind: 'cut' }, of: { ...chat, retryCut: true, cuts: 2 }, reason: null },
    { why: 'cut, kept at the engine', end: { kind: 'cut' }, of: { ...stored, retryCut: true, cuts: 1 }, reason: null },
    { why: 'the engine may still be at it', end: { kind: 'timeout' }, of: { ...chat, retryCut: true }, reason: null },
  ] as const)('$why: $reason', ({ end, of, reason }) => {
    expect(retryReason(end, of)).toBe(reason);
  });

  it.each([
    { body: { messages: [] }, expected: true },
    { body: { store: false }, expected: true },
    { body: { store: null }, expected: true },
    { body: { store: true }, expected: false },
  ])('repeatable: $body', ({ body, expected }) => expect(isRepeatable(body)).toBe(expected));

  it.each([
    { why: 'the client’s first try', configured: 2, header: '0', left: 2 },
    { why: 'no count', configured: 2, header: undefined, left: 2 },
    { why: 'the client’s own retry takes one of ours', configured: 2, header: '1', left: 1 },
    { why: 'more than ours', configured: 2, header: '5', left: 0 },
    { why: 'off', configured: 0, header: '0', left: 0 },
    { why: 'unreadable', configured: 2, header: '-1', left: 2 },
    { why: 'sent twice', configured: 2, header: ['1', '1'], left: 2 },
  ])('retries left, $why: $left', ({ configured, header, left }) => {
    expect(retriesLeft(configured, header)).toBe(left);
  });
});

describe('how long until the same engine is asked again', () => {
  it.each([
    { why: 'first, shortest', attempt: 1, after: null, random: 0, wait: 50 },
    { why: 'first, longest', attempt: 1, after: null, random: 1, wait: 100 },
    { why: 'third', attempt: 3, after: null, random: 1, wait: 400 },
    { why: 'never above the limit', attempt: 30, after: null, random: 1, wait: 2_000 },
    { why: 'as long as the engine asks', attempt: 1, after: 1_000, random: 1, wait: 1_000 },
    { why: 'an engine that asks for nothing still gets a pause', attempt: 1, after: 0, random: 1, wait: 100 },
    { why: 'exactly the limit', attempt: 1, after: 2_000, random: 0, wait: 2_000 },
    { why: 'longer than the limit', attempt: 1, after: 2_001, random: 0, wait: null },
  ])('$why: $wait', ({ attempt, after, random, wait }) => {
    expect(retryWaitMs(attempt, after, 2_000, random)).toBe(wait);
  });

  it.each([
    { header: '7', ms: 7_000 },
    { header: ' 0.5 ', ms: 500 },
    { header: '0', ms: 0 },
    { header: 'Thu, 01 Jan 1970 00:01:00 GMT', ms: 30_000 },
    { header: 'Thu, 01 Jan 1970 00:00:01 GMT', ms: 0 },
    { header: undefined, ms: null },
    { header: '', ms: null },
    { header: '-3', ms: null },
    { header: 'soon', ms: null },
    { header: ['1', '2'], ms: null },
  ])('Retry-After $header: $ms', ({ header, ms }) => expect(retryAfterMs(header, 30_000)).toBe(ms));
});
