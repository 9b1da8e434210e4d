import type { JudgedTurn } from '../../core/decide';
import { scoredTurn, unhintedTurn } from '../../testing/turns';
import { rejudged } from './rejudged';

const vote = {
  abstained: null,
  latencyMs: 1,
  promptTokens: 1,
  completionTokens: 1,
  cost: null,
  promptVersion: '1',
  raw: '',
};
const evalVotes = (...scores: (1 | -1 | 0 | null)[]) => scores.map((score) => ({ ...vote, score }));
const hintVotes = (...scores: (1 | -1 | null)[]) =>
  scores.map((score) => ({ ...vote, score, hint: score === 1 ? 'Answer in one sentence.' : '' }));

it.each<[string, JudgedTurn, Parameters<typeof rejudged>[1], object]>([
  [
    'nothing is set, nothing changes',
    scoredTurn({ evalVotes: evalVotes(-1) }),
    {},
    { evalScore: 1, hint: 'Answer in one sentence.' },
  ],
  [
    'a quorum that is met leaves the majority',
    unhintedTurn({ evalVotes: evalVotes(1, 1, null) }),
    { quorum: 2 },
    { evalScore: 1 },
  ],
  [
    'a quorum that is not met leaves no score',
    unhintedTurn({ evalVotes: evalVotes(1, null, null) }),
    { quorum: 2 },
    { evalScore: 0 },
  ],
  [
    'what a person said needs no quorum',
    unhintedTurn({ rewardSource: 'feedback', evalVotes: [] }),
    { quorum: 2 },
    { evalScore: 1 },
  ],
  [
    'one vote makes no majority for a hint',
    scoredTurn({ hintVotes: hintVotes(1, -1, -1) }),
    { hintAcceptance: 'majority' },
    { hint: null },
  ],
  [
    'a majority keeps the hint',
    scoredTurn({ hintVotes: hintVotes(1, 1, -1) }),
    { hintAcceptance: 'majority' },
    { hint: 'Answer in one sentence.' },
  ],
  [
    'too few readable votes make no hint',
    scoredTurn({ hintVotes: hintVotes(1, null, null) }),
    { quorum: 2 },
    { hint: null },
  ],
  [
    "a person's correction stays a hint",
    scoredTurn({ hintVotes: [] }),
    { hintAcceptance: 'majority', quorum: 2 },
    { hint: 'Answer in one sentence.' },
  ],
])('votes under another rule: %s', (_, turn, rule, expected) => {
  expect(rejudged(turn, rule)).toMatchObject(expected);
});

it.each([
  ['kept with the hint that it was shown', scoredTurn({ hintVotes: hintVotes(1, 1) }), 'majority', true],
  ['gone with the hint', scoredTurn({ hintVotes: hintVotes(1, -1, -1) }), 'majority', false],
  [
    'never asked for a hint that was not accepted then',
    unhintedTurn({ hintVotes: hintVotes(1, -1, -1) }),
    'any',
    false,
  ],
] as const)('the teacher is %s', (_, turn, hintAcceptance, isThere) => {
  expect('teacher' in rejudged(turn, { hintAcceptance })).toBe(isThere);
});
