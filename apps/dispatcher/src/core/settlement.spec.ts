import { settlement, type PendingTurn } from './settlement';

const turn = (id: string, over: Partial<PendingTurn> = {}): PendingTurn => ({
  id,
  ending: 'paired',
  decided: null,
  judged: true,
  score: 1,
  ...over,
});
const unjudged = (id: string, ending: PendingTurn['ending']): PendingTurn =>
  turn(id, { ending, judged: false, score: null });
const decided = (id: string, score: number): PendingTurn => turn(id, { decided: 'rl', score });

test.each<{ why: string; turns: PendingTurn[]; forced?: boolean; steps: unknown; due: unknown }>([
  {
    why: 'all are judged',
    turns: [turn('a'), turn('b', { score: -1 })],
    steps: [1, -1],
    due: [
      { id: 'a', index: 0 },
      { id: 'b', index: 1 },
    ],
  },
  {
    why: 'a score that nobody could read stays a gap',
    turns: [turn('a', { score: null })],
    steps: [null],
    due: [{ id: 'a', index: 0 }],
  },
  {
    why: 'one was decided before, and counts as a step',
    turns: [decided('a', -1), turn('b')],
    steps: [-1, 1],
    due: [{ id: 'b', index: 1 }],
  },
  {
    why: 'one expired: nobody will judge it',
    turns: [turn('a'), unjudged('b', 'expired')],
    steps: [1],
    due: [{ id: 'a', index: 0 }],
  },
  {
    why: 'one is untrainable',
    turns: [unjudged('a', 'untrainable'), turn('b')],
    steps: [1],
    due: [{ id: 'b', index: 0 }],
  },
  {
    why: 'the wait is over',
    turns: [turn('a'), unjudged('b', 'open')],
    forced: true,
    steps: [1],
    due: [{ id: 'a', index: 0 }],
  },
  { why: 'nothing waits', turns: [decided('a', 1)], steps: [1], due: [] },
])('$why', ({ turns, forced = false, steps, due }) => {
  expect(settlement(turns, forced)).toEqual({ steps, due });
});

test.each(['open', 'paired'] as const)('a turn that is %s and will be judged is waited for', (ending) => {
  expect(settlement([turn('a'), unjudged('b', ending)], false)).toBeNull();
});
