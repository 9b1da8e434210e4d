import fc from 'fast-check';
import { repeatedKey } from './json-keys';

it.each([
  { json: '{"a":1,"b":{"a":1}}', expected: null, why: 'the same key in another object is another key' },
  { json: '{"a":1,"a":2}', expected: 'a', why: 'twice in one object' },
  { json: '{"x":[{"a":1},{"b":{"c":1,"c":1}}]}', expected: 'c', why: 'at any depth' },
  { json: '{"x":[{"a":1},{"a":1}]}', expected: null, why: 'in two objects of a list' },
  { json: '{"a":1,"\\u0061":2}', expected: 'a', why: 'written differently, read the same' },
  { json: '{"a":"a","b":["a","a","a"]}', expected: null, why: 'a text is no key' },
  { json: '{"a\\"":1,"b":"\\\\","a\\"":2}', expected: 'a"', why: 'quotes and backslashes inside' },
  { json: '{"__proto__":1,"__proto__":2}', expected: '__proto__', why: 'a name that objects have' },
  { json: '3', expected: null, why: 'no object at all' },
])('finds a repeated key: $json, $why', ({ json, expected }) => {
  expect(repeatedKey(json)).toBe(expected);
});

it('finds none in what JSON.stringify writes', () => {
  fc.assert(fc.property(fc.jsonValue(), (value) => expect(repeatedKey(JSON.stringify(value, null, 1))).toBeNull()));
});
