import { Answer, type AnswerLimits } from './answer';

// Ids below 256 are bytes; 256 ends the turn and is special.
const tokenizer = {
  tokenBytes: (id: number) => (id === 256 ? Buffer.from('<end>') : Uint8Array.of(id)),
  isSpecial: (id: number) => id === 256,
};
const limits: AnswerLimits = {
  maxTokens: 100,
  stop: [],
  stopTokenIds: [],
  endTokenIds: [256],
  keepStop: false,
  skipSpecialTokens: true,
};
const bytes = (text: string): number[] => [...Buffer.from(text)];

function follow(ids: readonly number[], changes: Partial<AnswerLimits> = {}) {
  const answer = new Answer(tokenizer, { ...limits, ...changes });
  const texts: string[] = [];
  for (const id of ids) {
    const { text, finish } = answer.push(id);
    texts.push(text);
    if (finish) return { texts, finish, count: answer.ids.length };
  }
  return { texts, finish: null, count: answer.ids.length };
}

it.each([
  { why: 'the end of the turn', ids: [...bytes('ab'), 256], texts: ['a', 'b', ''], reason: 'stop', stopReason: null },
  { why: 'a stop token', ids: bytes('ab!'), stopTokenIds: [33], texts: ['a', 'b', ''], reason: 'stop', stopReason: 33 },
  { why: 'the limit', ids: bytes('ab'), maxTokens: 2, texts: ['a', 'b'], reason: 'length', stopReason: null },
  {
    why: 'the end of the turn as the last token allowed',
    ids: [97, 256],
    maxTokens: 2,
    texts: ['a', ''],
    reason: 'stop',
    stopReason: null,
  },
  { why: 'a stop string', ids: bytes('abcd'), stop: ['bc'], texts: ['', 'a', ''], reason: 'stop', stopReason: 'bc' },
  {
    why: 'a stop string as the last token allowed',
    ids: bytes('abc'),
    stop: ['bc'],
    maxTokens: 3,
    texts: ['', 'a', ''],
    reason: 'stop',
    stopReason: 'bc',
  },
])('ends with $why', ({ ids, texts, reason, stopReason, why: _, ...changes }) => {
  expect(follow(ids, changes)).toEqual({ texts, finish: { reason, stopReason }, count: texts.length });
});

it('shows a character with the token that completes it, and half a one as U+FFFD at the end', () => {
  expect(follow([...bytes('é'), 256]).texts).toEqual(['', 'é', '']);
  expect(follow([...bytes('é').slice(0, 1), 256]).texts).toEqual(['', '\ufffd']);
});

it('gives out what was held back for a stop string that did not come', () => {
  expect(follow([...bytes('ab'), 256], { stop: ['bcd'] }).texts).toEqual(['', '', 'ab']);
});

it('shows the end token and goes on behind it when asked', () => {
  expect(follow([97, 256], { skipSpecialTokens: false, keepStop: true }).texts).toEqual(['a', '<end>']);
  expect(follow([97, 256, 98], { endTokenIds: [] }).texts).toEqual(['a', '', 'b']);
});
