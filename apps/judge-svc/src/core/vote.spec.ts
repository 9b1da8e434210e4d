import { contracts } from '@hindcast/contracts';
import { readCompletion } from './completion';
import { turnsAtOnce } from './turns-at-once';
import { costOf, evalVote, hintVote, readDecision, type Reply, type VoteForm } from './vote';

const reply = (text: string, form: VoteForm = 'boxed', failed: Reply['failed'] = null): Reply => ({
  text,
  form,
  failed,
  cut: false,
  cutOff: false,
  latencyMs: 1,
  promptTokens: 100,
  completionTokens: 10,
  calls: 1,
});
const json = '{"reasoning":"r","score":-1}';

it.each<[why: string, text: string, form: VoteForm, score: number | null, saidAs: string | null]>([
  ['a box where boxes are asked for', '\\boxed{1}', 'boxed', 1, 'boxed'],
  ['JSON where boxes are asked for is no vote', json, 'boxed', null, null],
  ['JSON where JSON is asked for', json, 'json', -1, 'json'],
  ['a box where only JSON counts', '\\boxed{1}', 'json', null, null],
  ['JSON where the judge may know the schema', json, 'either', -1, 'json'],
  ['and a box where it does not', '\\boxed{1}', 'either', 1, 'boxed'],
  ['JSON after a thinking', `<think>\\boxed{1}</think>\n${json}`, 'either', -1, 'json'],
  ['JSON after the end of a thinking that the template began', `so \\boxed{1}</think>${json}`, 'json', -1, 'json'],
  ['JSON in a thinking that never ends', `<think>${json}`, 'either', null, null],
  ['JSON that speaks of <think>', '{"reasoning":"it wrote <think>","score":-1}', 'either', -1, 'json'],
  ['a box inside JSON that was cut off', '{"reasoning":"\\\\boxed{1}', 'either', null, null],
])('%s', (_why, text, form, score, saidAs) =>
  expect(readDecision('eval', reply(text, form))).toMatchObject({ score, saidAs }),
);

it('a vote that failed says nothing', () =>
  expect(readDecision('eval', reply('\\boxed{1}', 'boxed', 'timeout')).score).toBeNull());

it.each([
  { why: 'by both counts', tokens: [100, 10] as const, prices: { prompt: 3, completion: 15 }, cost: 0.00045 },
  { why: 'free is a price', tokens: [100, 10] as const, prices: { prompt: 0, completion: 0 }, cost: 0 },
  { why: 'no price', tokens: [100, 10] as const, prices: null, cost: null },
  { why: 'no count', tokens: [null, 10] as const, prices: { prompt: 3, completion: 15 }, cost: null },
])('cost: $why', ({ tokens: [promptTokens, completionTokens], prices, cost }) => {
  const expected = cost === null ? null : (expect.closeTo(cost, 12) as number);
  expect(costOf({ promptTokens, completionTokens }, prices)).toEqual(expected);
});

it('votes are what the contract wants', () => {
  const hinted = reply('\\boxed{1}[HINT_START]Answer in one sentence.[HINT_END]');
  const vote = hintVote(hinted, readDecision('hint', hinted), 'hint-v2', null);
  expect(contracts.turnHinted.body.shape.hintVotes.element.safeParse(vote)).toMatchObject({
    success: true,
    data: { score: 1, hint: 'Answer in one sentence.', promptVersion: 'hint-v2', cost: null },
  });
  const silent = reply('', 'either', 'breaker-open');
  expect(evalVote(silent, readDecision('eval', silent), 'eval-v2', null)).toMatchObject({
    score: null,
    abstained: 'breaker-open',
    promptVersion: 'eval-v2+json',
  });
});

describe('a chat completion', () => {
  const completion = (message: object, more: object = {}): string =>
    JSON.stringify({ choices: [{ message, finish_reason: 'stop' }], ...more });

  it.each<[why: string, body: string, read: object | null]>([
    ['text', completion({ content: 'x' }), { text: 'x', cut: false, promptTokens: null, completionTokens: null }],
    ['null', completion({ content: null, reasoning_content: 'y' }), { text: '' }],
    ['no content at all', completion({}), { text: '' }],
    ['parts', completion({ content: [{ type: 'text', text: 'a' }, { type: 'x' }, { text: 'b' }] }), { text: 'ab' }],
    [
      'counts',
      completion({ content: '' }, { usage: { prompt_tokens: 3, completion_tokens: 0 } }),
      { promptTokens: 3, completionTokens: 0 },
    ],
    [
      'counts that are none',
      completion({ content: '' }, { usage: { prompt_tokens: -1, completion_tokens: '5' } }),
      { promptTokens: null, completionTokens: null },
    ],
    ['cut off', '{"choices":[{"message":{"content":"x"},"finish_reason":"length"}]}', { cut: true }],
    ['an object for content', completion({ content: {} }), null],
    ['no message', '{"choices":[{"text":"x"}]}', null],
    ['no choices', '{"choices":[]}', null],
    ['null for all', 'null', null],
    ['no JSON', '<html>', null],
    ['an event stream', 'data: {"choices":[]}\n\n', null],
  ])('%s', (_why, body, read) => {
    if (read === null) expect(readCompletion(body)).toBeNull();
    else expect(readCompletion(body)).toMatchObject(read);
  });
});

it.each([
  { calls: 32, votes: 6, turns: 6 },
  { calls: 1, votes: 6, turns: 2 },
  { calls: 60, votes: 6, turns: 10 },
  { calls: 4, votes: 0, turns: 16 },
])('$calls calls at once suffice for $turns turns of $votes votes', ({ calls, votes, turns }) =>
  expect(turnsAtOnce(calls, votes)).toBe(turns),
);
