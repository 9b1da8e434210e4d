import { isDataError, isLockTimeout, isRefusedLogin } from './database-error';

test.each([
  { why: 'a NUL in a text, as the driver says it', error: { code: '22P05' }, isData: true },
  {
    why: 'wrapped by Prisma',
    error: { code: 'P2010', meta: { driverAdapterError: { cause: { originalCode: '22021' } } } },
    isData: true,
  },
  { why: 'broken constraint', error: { code: 'P2002', cause: { originalCode: '23505' } }, isData: true },
  {
    why: 'server going down',
    error: { code: 'P2010', meta: { driverAdapterError: { cause: { originalCode: '57P01' } } } },
    isData: false,
  },
  { why: 'query too slow', error: { cause: { originalCode: '57014' } }, isData: false },
  { why: 'deadlock', error: { code: 'P2034' }, isData: false },
  { why: 'table missing after a restore', error: { cause: { originalCode: '42P01' } }, isData: false },
  {
    why: 'no connection',
    error: Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' }),
    isData: false,
  },
  { why: 'pool exhausted', error: new Error('timeout exceeded when trying to connect'), isData: false },
  { why: 'no error object', error: 'boom', isData: false },
  { why: 'nothing', error: undefined, isData: false },
])('$why', ({ error, isData }) => {
  expect(isDataError(error)).toBe(isData);
});

test('an error that contains itself', () => {
  const error: { cause?: unknown } = {};
  error.cause = error;
  expect(isDataError(error)).toBe(false);
});

test.each([
  { why: 'wrong password', code: '28P01', isRefused: true },
  { why: 'no such user, or not from here', code: '28000', isRefused: true },
  { why: 'no such database', code: '3D000', isRefused: true },
  { why: 'too many connections', code: '53300', isRefused: false },
  { why: 'starting up', code: '57P03', isRefused: false },
  { why: 'no connection', code: 'ECONNREFUSED', isRefused: false },
])('a login: $why', ({ code, isRefused }) => {
  expect(isRefusedLogin(Object.assign(new Error(), { code }))).toBe(isRefused);
});

test.each([
  { code: '55P03', isTimeout: true },
  { code: '57014', isTimeout: false },
])('$code gave up waiting for a lock: $isTimeout', ({ code, isTimeout }) => {
  expect(isLockTimeout({ code })).toBe(isTimeout);
});
