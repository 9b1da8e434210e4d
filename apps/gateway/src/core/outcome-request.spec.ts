import { checkOutcome } from './outcome-request';

it.each([
  { body: { reward: 1 } },
  { body: { reward: -1, comment: null } },
  { body: { reward: 0 } },
  { body: { reward: 0.25, comment: 'three of four tests pass' } },
  { body: { reward: 1, comment: 'c'.repeat(10_000), anything: 'else' } },
])('accepts %j', ({ body }) => {
  expect(checkOutcome(body)).toMatchObject({ ok: true, request: { reward: body.reward } });
});

const range = 'reward must be a number from -1 to 1';
it.each([
  { body: undefined, param: null, message: 'the body must be a JSON object' },
  { body: [], param: null, message: 'the body must be a JSON object' },
  { body: 'reward', param: null, message: 'the body must be a JSON object' },
  { body: {}, param: 'reward', message: range },
  { body: { reward: null }, param: 'reward', message: range },
  { body: { reward: '1' }, param: 'reward', message: range },
  { body: { reward: true }, param: 'reward', message: range },
  { body: { reward: 1.0001 }, param: 'reward', message: range },
  { body: { reward: -2 }, param: 'reward', message: range },
  { body: JSON.parse('{"reward":1e400}') as unknown, param: 'reward', message: range },
  { body: { reward: NaN }, param: 'reward', message: range },
  { body: { reward: 1, comment: 5 }, param: 'comment', message: 'comment must be a text of at most 10000 characters' },
  {
    body: { reward: 1, comment: 'c'.repeat(10_001) },
    param: 'comment',
    message: 'comment must be a text of at most 10000 characters',
  },
])('refuses it in plain words: %j', ({ body, param, message }) => {
  expect(checkOutcome(body)).toEqual({ ok: false, message, param });
});
