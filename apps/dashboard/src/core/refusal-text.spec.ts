import { refusalText } from './refusal-text';

it.each<[number, string]>([
  [401, 'The gateway does not know this key.'],
  [403, 'The gateway knows this key, but it is no administrator’s.'],
  [503, 'as it came'],
])('what a refusal with %i means to a person', (status, text) =>
  expect(refusalText({ status, message: 'as it came' })).toBe(text),
);
