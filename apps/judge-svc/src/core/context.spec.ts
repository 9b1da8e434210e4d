import { parseEvalVote } from '@hindcast/advantage';
import type { BodyOf, TextMessage } from '@hindcast/contracts';
import { quoteTurn } from './context';

const message = (role: TextMessage['role'], text: string, toolName: string | null = null): TextMessage => ({
  role,
  text,
  toolName,
});
const turn = (over: Partial<BodyOf<'turnPaired'>> = {}): BodyOf<'turnPaired'> => ({
  responseId: 'r',
  sessionId: null,
  policyVersion: 0,
  conversation: [
    message('system', 'Be brief.'),
    message('user', 'How far is the moon?'),
    message('assistant', 'Wait.'),
  ],
  answer: 'Very far.',
  nextState: [message('user', 'In miles, please.')],
  truncated: false,
  outcomePending: false,
  groundTruth: null,
  ...over,
});
const long = (word: string): string => `first ${word} ${`${word} `.repeat(3_000)}${word} last`;

it('shows all messages with role and tool, in order, and says which is the request', () => {
  const quoted = quoteTurn(
    turn({
      nextState: [
        message('tool', 'sunny', 'get_weather'),
        message('tool', 'rain', 'get_weather'),
        message('function', 'ok', 'send mail'),
        message('tool', 'no name'),
        message('user', 'Thanks!'),
      ],
    }),
    2_000,
  );
  expect(quoted.conversation.map(({ head, text }) => [head, text])).toEqual([
    ['system', 'Be brief.'],
    ['user (the request)', 'How far is the moon?'],
    ['assistant', 'Wait.'],
  ]);
  expect(quoted.nextState.map(({ head, text }) => [head, text])).toEqual([
    ['tool get_weather', 'sunny'],
    ['tool get_weather', 'rain'],
    ['function send mail', 'ok'],
    ['tool', 'no name'],
    ['user', 'Thanks!'],
  ]);
});

it('the request is the last message of the user, and is there however long all else is', () => {
  const quoted = quoteTurn(
    turn({
      conversation: [
        message('user', 'An older question.'),
        message('assistant', long('older')),
        message('user', 'Find the bug.'),
        ...Array.from({ length: 200 }, (_, i) => message(i % 2 ? 'tool' : 'assistant', long('step'))),
      ],
      answer: long('answer'),
      nextState: [message('tool', long('result'), 'search')],
    }),
    1_500,
  );
  expect(quoted.conversation).toContainEqual(
    expect.objectContaining({ head: 'user (the request)', text: 'Find the bug.' }),
  );
});

it.each([
  { name: 'answer', over: { answer: long('a') }, text: (q: ReturnType<typeof quoteTurn>) => q.answer },
  {
    name: 'next state',
    over: { nextState: [message('tool', long('b'))] },
    text: (q: ReturnType<typeof quoteTurn>) => q.nextState[0]!.text,
  },
  {
    name: 'request',
    over: { conversation: [message('user', long('c'))] },
    text: (q: ReturnType<typeof quoteTurn>) => q.conversation[0]!.text,
  },
  {
    name: 'history',
    over: { conversation: [message('assistant', long('d')), message('user', 'Go on.')] },
    text: (q: ReturnType<typeof quoteTurn>) => q.conversation[0]!.text,
  },
])('of a long $name both ends stay, and the others are whole', ({ over, text }) => {
  const quoted = quoteTurn(turn(over), 1_500);
  expect(text(quoted)).toMatch(/^first [\s\S]+\n\[… \d+ characters cut …\]\n[\s\S]+ last$/);
  expect(text(quoted).length).toBeGreaterThan(1_200);
  const cuts = [...quoted.conversation, { text: quoted.answer }, ...quoted.nextState].filter(({ text }) =>
    text.includes('characters cut'),
  );
  expect(cuts).toHaveLength(1);
});

it('counts the characters that it cut', () => {
  const answer = '😀'.repeat(3_000);
  const shown = quoteTurn(turn({ answer }), 1_000).answer;
  const cut = Number(/… (\d+) characters/.exec(shown)![1]);
  expect(shown.split('😀').length - 1 + cut).toBe(3_000);
});

it('of too many messages the first, the last and the newest stay, and it says how many are missing', () => {
  const results = Array.from({ length: 250 }, (_, i) => message('tool', `result ${i} ${long('x')}`, 'search'));
  const { nextState } = quoteTurn(turn({ nextState: results }), 2_000);
  expect(nextState[0]!.text).toMatch(/^result 0 /);
  expect(nextState.at(-1)!.text).toMatch(/^result 249 /);
  expect(nextState.at(-2)!.text).toMatch(/^result 248 /);
  expect(nextState.reduce((sum, { leftOutBefore }) => sum + 1 + leftOutBefore, 0)).toBe(250);
});

it('parallel results share alike', () => {
  const { nextState } = quoteTurn(
    turn({
      nextState: [message('tool', 'short', 'a'), message('tool', long('x'), 'b'), message('tool', long('y'), 'c')],
    }),
    2_000,
  );
  expect(nextState[0]!.text).toBe('short');
  expect(Math.abs(nextState[1]!.text.length - nextState[2]!.text.length)).toBeLessThan(100);
});

it('a conversation without a user, or none at all, has no request', () => {
  expect(quoteTurn(turn({ conversation: [] }), 1_000).conversation).toEqual([]);
  const { conversation } = quoteTurn(turn({ conversation: [message('system', 'x')] }), 1_000);
  expect(conversation.map(({ head }) => head)).toEqual(['system']);
});

it('halves of a mark that a cut brings together are broken, wherever it falls', () => {
  for (let budget = 700; budget < 760; budget++) {
    const { answer } = quoteTurn(turn({ answer: '\\bo '.repeat(900) + 'xed{1} '.repeat(900) }), budget);
    expect(parseEvalVote(answer.replace(/\n\[….*…\]\n/, '').replace(/\s/g, ''))).toBeNull();
  }
});

it('so are halves that messages left out bring together', () => {
  const later = Array.from({ length: 200 }, () => message('tool', `xed{1} ${long('x')}`));
  const { nextState } = quoteTurn(
    turn({ nextState: [message('tool', '\\bo'), message('tool', 'y'), ...later] }),
    1_500,
  );
  expect(nextState[1]!.leftOutBefore).toBeGreaterThan(0);
  expect(parseEvalVote(nextState.map(({ text }) => text).join(''))).toBeNull();
});
