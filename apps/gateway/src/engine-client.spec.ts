import { errors } from 'undici';
import { engineError, failureKind } from './engine-client';

const withCode = (code: string, syscall?: string): Error =>
  Object.assign(new Error(code), { code, ...(syscall !== undefined && { syscall }) });

describe('what a failed call says of an engine', () => {
  it.each([
    { why: 'nobody listens', error: withCode('ECONNREFUSED', 'connect'), kind: 'unreachable' },
    {
      why: 'nobody listens on any address of the host',
      error: Object.assign(new AggregateError([withCode('ECONNREFUSED', 'connect')]), { code: 'ECONNREFUSED' }),
      kind: 'unreachable',
    },
    { why: 'no such host', error: withCode('ENOTFOUND', 'getaddrinfo'), kind: 'unreachable' },
    { why: 'names cannot be looked up', error: withCode('EAI_AGAIN', 'getaddrinfo'), kind: 'unreachable' },
    { why: 'no way there', error: withCode('EHOSTUNREACH', 'connect'), kind: 'unreachable' },
    { why: 'the system gave up connecting', error: withCode('ETIMEDOUT', 'connect'), kind: 'unreachable' },
    { why: 'we gave up connecting', error: new errors.ConnectTimeoutError(), kind: 'unreachable' },
    { why: 'reset after the request was sent', error: withCode('ECONNRESET', 'read'), kind: 'cut' },
    { why: 'closed after the request was sent', error: new errors.SocketError('other side closed'), kind: 'cut' },
    { why: 'the system gave up on an open connection', error: withCode('ETIMEDOUT', 'read'), kind: 'cut' },
    { why: 'no answer', error: new errors.HeadersTimeoutError(), kind: 'timeout' },
    { why: 'silence in an answer', error: new errors.BodyTimeoutError(), kind: 'timeout' },
    { why: 'a call with a limit', error: new DOMException('late', 'TimeoutError'), kind: 'timeout' },
  ])('$why: $kind', ({ error, kind }) => expect(failureKind(engineError(error))).toBe(kind));
});
