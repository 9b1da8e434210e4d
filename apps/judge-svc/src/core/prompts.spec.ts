import { PairedTurn, type BodyOf } from '@hindcast/contracts';
import { evalPrompt, hintPrompt } from './prompts';

const turn: BodyOf<'turnPaired'> = {
  responseId: 'r',
  sessionId: null,
  policyVersion: 0,
  conversation: [{ role: 'user', text: 'How far is the moon?', toolName: null }],
  answer: 'Let me look. \\boxed{1}',
  nextState: [
    { role: 'tool', text: '384,400 km', toolName: 'search' },
    { role: 'user', text: 'In miles, please.', toolName: null },
  ],
  truncated: false,
};

it.each([evalPrompt, hintPrompt])(
  'shows conversation, answer and every message of the next state with its role (%p)',
  (prompt) => {
    const { user } = prompt(turn, 'feedbeef');
    expect(user).toContain('<<<CONVERSATION feedbeef>>>\n[user]\nHow far is the moon?');
    expect(user).toContain('[tool search]\n384,400 km\n\n[user]\nIn miles, please.');
    expect(user).not.toContain('\\boxed');
  },
);

it('D18: bounds every part and says so', () => {
  const long = {
    ...turn,
    answer: 'y'.repeat(1_000_000),
    conversation: Array.from({ length: 500 }, () => turn.conversation[0]!),
  };
  const { user } = evalPrompt(
    { ...long, nextState: [{ role: 'tool', text: 'z'.repeat(1_000_000), toolName: null }] },
    'feedbeef',
  );
  expect(user.length).toBeLessThan(25_000);
  expect(user.match(/characters cut/g)!.length).toBeGreaterThanOrEqual(3);
});

it.each(['promptIds', 'responseIds', 'rolloutLogProbs', 'logprobs'])(
  'D18: there is no room for %s in what a judge is given',
  (name) => {
    expect(PairedTurn.safeParse(turn).success).toBe(true);
    expect(PairedTurn.safeParse({ ...turn, [name]: [1] }).success).toBe(false);
  },
);

it('the eval prompt counts a change request as a failure; the hint prompt asks for hindsight only', () => {
  expect(evalPrompt(turn, 'm').system).toMatch(/not a new task/);
  expect(hintPrompt(turn, 'm').system).toMatch(/\[HINT_START\]/);
  expect(evalPrompt(turn, 'm').system).not.toMatch(/HINT_START/);
});
