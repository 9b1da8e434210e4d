import { counted } from './counted';

it.each([
  [0, '0 tokens'],
  [1, '1 token'],
  [2, '2 tokens'],
])('%i token(s)', (count, text) => expect(counted(count, 'token')).toBe(text));

it('takes a plural of its own', () => expect(counted(2, 'policy', 'policies')).toBe('2 policies'));
