import { checkFeedback } from './feedback-request';

it.each([
  { body: { turn_id: 't', reward: -1 } },
  { body: { response_id: 'r', reward: 0, comment: null, correction: 'Say hi.' } },
  { body: { response_id: 'r:1', reward: 1, anything: 'else' } },
])('accepts $body', ({ body }) => {
  expect(checkFeedback(body).ok).toBe(true);
});

it.each([
  { body: undefined, param: null, message: 'the body must be a JSON object' },
  { body: [], param: null, message: 'the body must be a JSON object' },
  { body: { turn_id: 't' }, param: 'reward', message: 'reward must be -1, 0 or 1' },
  { body: { turn_id: 't', reward: 5 }, param: 'reward', message: 'reward must be -1, 0 or 1' },
  { body: { turn_id: 't', reward: '1' }, param: 'reward', message: 'reward must be -1, 0 or 1' },
  { body: { reward: 1 }, param: 'turn_id', message: 'give either turn_id or response_id' },
  {
    body: { turn_id: 't', response_id: 'r', reward: 1 },
    param: 'turn_id',
    message: 'give either turn_id or response_id',
  },
  { body: { turn_id: '', reward: 1 }, param: 'turn_id', message: 'turn_id must be a text of 1 to 200 characters' },
  {
    body: { response_id: 7, reward: 1 },
    param: 'response_id',
    message: 'response_id must be a text of 1 to 200 characters',
  },
  {
    body: { turn_id: 't', reward: 1, comment: 'x'.repeat(10_001) },
    param: 'comment',
    message: 'comment must be a text of at most 10000 characters',
  },
])('refuses it in plain words: $message', ({ body, param, message }) => {
  expect(checkFeedback(body)).toEqual({ ok: false, message, param });
});
