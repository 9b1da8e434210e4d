import { isDataError } from './database-error';

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
