import type { BodyOf, EvalVote, Feedback, HintVote } from '@hindcast/contracts';
import { contracts } from '@hindcast/contracts';
import { judgement, planVotes } from './judgement';

const turn: BodyOf<'turnPaired'> = {
  responseId: 'r',
  sessionId: null,
  policyVersion: 2,
  conversation: [],
  answer: 'a',
  nextState: [],
  truncated: false,
};
const vote = (score: -1 | 0 | 1 | null): EvalVote => ({
  score,
  abstained: score === null ? 'timeout' : null,
  latencyMs: 1,
  promptTokens: 1,
  completionTokens: 1,
  raw: '',
});
const hintVote = (score: -1 | 1 | null, hint: string): HintVote => ({ ...vote(null), score, abstained: null, hint });
const settings = { hintAcceptance: 'any' as const, quorum: 1, judgeModel: 'j', promptVersion: 'v', latencyMs: 5 };
const feedback = (over: Partial<Feedback> = {}): Feedback => ({
  reward: 1,
  comment: null,
  correction: null,
  at: 0,
  ...over,
});
const hint = 'no lists, no bold type';

describe('judgement', () => {
  it.each([
    {
      name: 'majority of the readable votes',
      evalVotes: [vote(1), vote(null), vote(1)],
      said: null,
      score: 1,
      source: 'votes',
    },
    {
      name: 'D56: no vote came before the deadline',
      evalVotes: [vote(null), vote(null), vote(null)],
      said: null,
      score: 0,
      source: 'votes',
    },
    {
      name: 'a person overrides the votes',
      evalVotes: [vote(1), vote(1), vote(1)],
      said: feedback({ reward: -1 }),
      score: -1,
      source: 'feedback',
    },
    {
      name: 'a person who says 0 overrides them too',
      evalVotes: [vote(1)],
      said: feedback({ reward: 0 }),
      score: 0,
      source: 'feedback',
    },
  ])('$name', ({ evalVotes, said, score, source }) => {
    expect(judgement(turn, { evalVotes, hintVotes: [] }, said, settings)).toMatchObject({
      evalScore: score,
      rewardSource: source,
      hint: null,
    });
  });
  it('needs the quorum', () => {
    const evalVotes = [vote(1), vote(null), vote(null)];
    expect(judgement(turn, { evalVotes, hintVotes: [] }, null, { ...settings, quorum: 2 }).evalScore).toBe(0);
  });
  it('a correction is the hint', () => {
    const hintVotes = [hintVote(1, 'a hint of the judge, and a long one at that')];
    expect(judgement(turn, { evalVotes: [], hintVotes }, feedback({ correction: ` ${hint} ` }), settings).hint).toBe(
      hint,
    );
    expect(judgement(turn, { evalVotes: [], hintVotes }, feedback({ correction: 'no' }), settings).hint).toBe(
      hintVotes[0]!.hint,
    );
  });
  it('is a message that the contract accepts, hinted or not', () => {
    const hinted = judgement(turn, { evalVotes: [vote(-1)], hintVotes: [hintVote(1, hint)] }, null, settings);
    expect(contracts.turnHinted.body.safeParse(hinted).success).toBe(true);
    expect(contracts.turnUnhinted.body.safeParse(hinted).success).toBe(false);
    const unhinted = judgement(turn, { evalVotes: [vote(-1)], hintVotes: [] }, null, settings);
    expect(contracts.turnUnhinted.body.safeParse(unhinted).success).toBe(true);
  });
});

it.each([
  { name: 'nothing came after the answer', messages: 0, said: null, plan: { evalVotes: 0, hintVotes: 0 } },
  { name: 'all 2m', messages: 1, said: null, plan: { evalVotes: 3, hintVotes: 3 } },
  { name: 'a reward was given', messages: 1, said: feedback(), plan: { evalVotes: 0, hintVotes: 3 } },
  {
    name: 'reward and correction were given',
    messages: 1,
    said: feedback({ correction: hint }),
    plan: { evalVotes: 0, hintVotes: 0 },
  },
])('votes to ask for: $name', ({ messages, said, plan }) => {
  expect(planVotes(messages, said, { evalVotes: 3, hintVotes: 3 })).toEqual(plan);
});
