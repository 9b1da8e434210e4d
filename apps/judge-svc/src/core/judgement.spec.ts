import type { BodyOf, EvalVote, Feedback, HintVote, Score, Verdict } from '@hindcast/contracts';
import { contracts } from '@hindcast/contracts';
import { judgement, planVotes, verifiedScore, type Evidence } from './judgement';

const turn: BodyOf<'turnPaired'> = {
  responseId: 'r',
  sessionId: null,
  policyVersion: 2,
  conversation: [],
  answer: 'a',
  nextState: [],
  truncated: false,
  outcomePending: false,
  groundTruth: null,
};
const vote = (score: -1 | 0 | 1 | null): EvalVote => ({
  score,
  abstained: score === null ? 'timeout' : null,
  latencyMs: 1,
  promptTokens: 1,
  completionTokens: 1,
  cost: null,
  promptVersion: 'v',
  raw: '',
});
const hintVote = (score: -1 | 1 | null, hint: string): HintVote => ({ ...vote(null), score, abstained: null, hint });
const rule = { hintAcceptance: 'any' as const, evalQuorum: 1, hintQuorum: 1 };
const provenance = { guards: [], judgeModel: 'j', promptVersion: 'v', latencyMs: 5 };
const nobody: Evidence = { feedback: null, verdicts: [], feedbackReward: 'override' };
const says = (reward: Score, correction: string | null = null): Feedback => ({
  reward,
  comment: null,
  correction,
  at: 0,
});
const verdict = (verifier: string, score: Score | null): Verdict => ({ verifier, score, detail: 'why' });
const hint = 'no lists, no bold type';

describe('where the score comes from', () => {
  it.each<[string, (Score | null)[], Partial<Evidence>, Score, string]>([
    ['majority of the readable votes', [1, null, 1], {}, 1, 'votes'],
    ['a tie is 0', [1, -1], {}, 0, 'votes'],
    ['D56: no vote came before the deadline', [null, null, null], {}, 0, 'votes'],
    ['a person overrides the votes', [1, 1, 1], { feedback: says(-1) }, -1, 'feedback'],
    ['a person who says 0 overrides them too', [1], { feedback: says(0) }, 0, 'feedback'],
    ['a person is one more vote', [1, 1], { feedback: says(-1), feedbackReward: 'join' }, 1, 'joined'],
    ['who tips the scales', [1, -1], { feedback: says(-1), feedbackReward: 'join' }, -1, 'joined'],
    [
      'and the only one, when no other is readable',
      [null],
      { feedback: says(-1), feedbackReward: 'join' },
      -1,
      'joined',
    ],
    ['without a person there is nothing to join', [1], { feedbackReward: 'join' }, 1, 'votes'],
    ['a verifier decides', [], { verdicts: [verdict('a', -1)] }, -1, 'verifier'],
    ['two that agree decide', [], { verdicts: [verdict('a', 1), verdict('b', null), verdict('c', 1)] }, 1, 'verifier'],
    ['two that disagree leave it to the votes', [1], { verdicts: [verdict('a', 1), verdict('b', -1)] }, 1, 'votes'],
    ['one that abstains leaves it to the votes', [-1], { verdicts: [verdict('a', null)] }, -1, 'votes'],
    ['a person outweighs a verifier', [], { feedback: says(1), verdicts: [verdict('a', -1)] }, 1, 'feedback'],
    [
      'a person who joins a verifier and disagrees leaves nothing known',
      [],
      { feedback: says(1), verdicts: [verdict('a', -1)], feedbackReward: 'join' },
      0,
      'joined',
    ],
  ])('%s', (_name, scores, evidence, evalScore, rewardSource) => {
    const votes = { evalVotes: scores.map(vote), hintVotes: [] };
    const judged = judgement(turn, votes, { ...nobody, ...evidence }, rule, provenance);
    expect(judged).toMatchObject({ evalScore, rewardSource, hint: null, verdicts: evidence.verdicts ?? [] });
  });

  it.each<[string, (Score | null)[], Feedback | null, Score]>([
    ['too few', [1, null, null], null, 0],
    ['enough', [1, 1, null], null, 1],
    ['a person who joins counts', [1, null, null], says(1), 1],
  ])('needs the quorum: %s', (_name, scores, feedback, evalScore) => {
    const votes = { evalVotes: scores.map(vote), hintVotes: [] };
    const evidence: Evidence = { ...nobody, feedback, feedbackReward: 'join' };
    expect(judgement(turn, votes, evidence, { ...rule, evalQuorum: 2 }, provenance).evalScore).toBe(evalScore);
  });
});

describe('the hint', () => {
  const votes = { evalVotes: [], hintVotes: [hintVote(1, hint), hintVote(-1, ''), hintVote(null, '')] };
  const hintOf = (over: Partial<typeof rule> | { hintAcceptance: 'majority' }, evidence: Partial<Evidence> = {}) =>
    judgement(turn, votes, { ...nobody, ...evidence }, { ...rule, ...over }, provenance).hint;

  it.each([
    { why: 'any: one vote is enough', over: {}, expected: hint },
    { why: 'majority: one of two is none', over: { hintAcceptance: 'majority' as const }, expected: null },
    { why: 'quorum: two are readable', over: { hintQuorum: 2 }, expected: hint },
    { why: 'quorum: three are not', over: { hintQuorum: 3 }, expected: null },
  ])('$why', ({ over, expected }) => expect(hintOf(over)).toBe(expected));

  it('a correction is the hint, if it would pass as one', () => {
    expect(hintOf({ hintQuorum: 3 }, { feedback: says(1, ` no bold at all `) })).toBe('no bold at all');
    expect(hintOf({}, { feedback: says(1, 'no') })).toBe(hint);
  });
});

it('is a message that the contract accepts, hinted or not', () => {
  const guarded = { ...provenance, guards: ['repetition'] };
  const evalVotes = [vote(-1)];
  const hinted = judgement(turn, { evalVotes, hintVotes: [hintVote(1, hint)] }, nobody, rule, guarded);
  expect(contracts.turnHinted.body.safeParse(hinted)).toMatchObject({
    success: true,
    data: { guards: ['repetition'] },
  });
  expect(contracts.turnUnhinted.body.safeParse(hinted).success).toBe(false);
  const unhinted = judgement(turn, { evalVotes, hintVotes: [] }, nobody, rule, guarded);
  expect(contracts.turnUnhinted.body.safeParse(unhinted).success).toBe(true);
});

it.each<[string, number, Partial<Evidence>, [number, number]]>([
  ['nothing came after the answer', 0, {}, [0, 0]],
  ['all 2m', 1, {}, [3, 3]],
  ['a reward was given', 1, { feedback: says(1) }, [0, 3]],
  ['a reward joins the votes', 1, { feedback: says(1), feedbackReward: 'join' }, [3, 3]],
  ['reward and correction were given', 1, { feedback: says(1, hint) }, [0, 0]],
  ['a verifier scores: its votes are saved, not those on a hint', 1, { verdicts: [verdict('a', 1)] }, [0, 3]],
  ['verifiers disagree', 1, { verdicts: [verdict('a', 1), verdict('b', -1)] }, [3, 3]],
])('votes to ask for: %s', (_name, messages, evidence, [evalVotes, hintVotes]) => {
  const plan = planVotes(messages, { ...nobody, ...evidence }, { evalVotes: 3, hintVotes: 3 });
  expect(plan).toEqual({ evalVotes, hintVotes });
});

it('verifiers that all abstain say nothing', () => expect(verifiedScore([verdict('a', null)])).toBeNull());
