import { scanTokens } from './scan-tokens';

const bytes = (text: string): Buffer => Buffer.from(text);
const answer = (tokens: string, count = tokens.split(',').length): string =>
  `{"count":${count},"max_model_len":4096,"tokens":[${tokens}],"token_strs":null}`;

it.each([
  ['one id', '7', [7]],
  ['several', '1,0,2147483647,15', [1, 0, 2_147_483_647, 15]],
])('reads %s', (_, tokens, ids) => {
  const scanned = scanTokens(bytes(answer(tokens)));
  expect([...scanned!.ids]).toEqual(ids);
  expect(scanned!.rest).toEqual({ count: ids.length, max_model_len: 4096, tokens: [], token_strs: null });
});

it('reads an answer with other fields first and last, as SGLang writes it', () => {
  const scanned = scanTokens(bytes('{"tokens":[5,6],"count":2,"max_model_len":1e30}'));
  expect([...scanned!.ids]).toEqual([5, 6]);
});

it.each([
  ['no list', '{"count":0,"tokens":null}'],
  ['an empty list', answer('', 0)],
  ['spaces', answer('1, 2')],
  ['a fraction', answer('1,2.5')],
  ['an exponent', answer('1,2e3')],
  ['a minus sign', answer('-1,2')],
  ['a leading zero', answer('1,02')],
  ['a missing id', answer('1,,2')],
  ['a comma at the end', answer('1,2,')],
  ['an id beyond int32', answer('1,2147483648')],
  ['null for an id', answer('1,null')],
  ['a nested list', answer('[1],2')],
  ['another count', answer('1,2', 3)],
  ['no count', '{"tokens":[1,2]}'],
  ['two lists', '{"count":2,"tokens":[1,2],"tokens":[3,4]}'],
  ['a list inside another object', '{"count":2,"x":{"tokens":[1,2]},"tokens":[3,4]}'],
  ['a list inside a text', `{"count":2,"x":"\\"tokens":[1,2]","tokens":[3,4]}`],
  ['token texts', answer('1,2').replace('null', JSON.stringify(['x'.repeat(5_000), 'y']))],
  ['an answer that is cut', answer('1,2').slice(0, -3)],
  ['a list that is cut', '{"count":2,"tokens":[1,2'],
  ['nothing', ''],
])('leaves %s to the careful reader', (_, text) => {
  expect(scanTokens(bytes(text))).toBeNull();
});
