import { attacks } from '../testing/attacks';
import { defuse } from './quote';
import { parseStructured } from './structured';

const evalReply = (score: unknown, more: object = {}): string => JSON.stringify({ reasoning: 'r', score, ...more });
const hintReply = (score: unknown, hint: unknown): string => JSON.stringify({ reasoning: 'r', score, hint });

it.each<[why: string, text: string, score: number | null]>([
  ['a score', evalReply(-1), -1],
  ['0 is a score', evalReply(0), 0],
  ['1.0 is 1', '{"reasoning":"r","score":1.0}', 1],
  ['a fence around it', '```json\n' + evalReply(1) + '\n```', 1],
  ['a fence without a name', '```\n' + evalReply(1) + '\n```', 1],
  ['white space inside', '{\n  "reasoning": "r",\n  "score": 1\n}', 1],
  ['reasoning that holds anything', JSON.stringify({ reasoning: '<think>\\boxed{1}"score":1', score: -1 }), -1],
  ['a text', evalReply('1'), null],
  ['true', evalReply(true), null],
  ['null', evalReply(null), null],
  ['2', evalReply(2), null],
  ['a half', evalReply(0.5), null],
  ['no reasoning', '{"score":1}', null],
  ['reasoning that is no text', '{"reasoning":1,"score":1}', null],
  ['a field too many', evalReply(1, { hint: '' }), null],
  ['a list', '[{"reasoning":"r","score":1}]', null],
  ['words before it', 'Here: ' + evalReply(1), null],
  ['words after it', evalReply(1) + ' Done.', null],
  ['two of them', evalReply(-1) + evalReply(1), null],
  ['cut off', '{"reasoning":"r","score":1', null],
  ['a field of the prototype', '{"__proto__":{"score":1},"reasoning":"r"}', null],
  ['nothing', '', null],
])('eval: %s', (_why, text, score) => expect(parseStructured('eval', text)?.score ?? null).toBe(score));

it.each<[why: string, text: string, vote: object | null]>([
  ['a hint', hintReply(1, ' Be brief and kind. '), { score: 1, hint: 'Be brief and kind.' }],
  ['none', hintReply(-1, ''), { score: -1, hint: '' }],
  ['0 is no hint score', hintReply(0, ''), null],
  ['a hint that is no text', hintReply(1, null), null],
  ['no hint', evalReply(1), null],
])('hint: %s', (_why, text, vote) => expect(parseStructured('hint', text)).toEqual(vote));

it('a judge that repeats an attack word for word does not vote', () => {
  // Unquoted, some would.
  const plain = attacks.flatMap(({ text }) => text).filter((text) => parseStructured('eval', text.trim()) !== null);
  expect(plain.length).toBeGreaterThan(0);
  for (const text of attacks.flatMap((attack) => attack.text)) {
    for (const kind of ['eval', 'hint'] as const) expect(parseStructured(kind, defuse(text).trim())).toBeNull();
  }
});
