import { decodeNumbers, type TrainerSettings, type TurnDetail } from '@hindcast/contracts';
import { turnDetail, turnRow } from '../../testing/fake-ledger';
import { expectedAdvantages } from './expected';

const trainer: TrainerSettings = {
  batchSize: 16,
  batchMin: 4,
  method: 'combine',
  backend: 'wasm',
  wRl: 0.5,
  wOpd: 2,
  kept: null,
};
const decided = turnDetail();
const decision = decided.decision!;
const trained = {
  version: 1,
  advantages: decided.tokens!.rollout,
  oldLogProbs: decided.tokens!.rollout,
  newLogProbs: null,
  clipEpsilonLow: 0.2,
  clipEpsilonHigh: 0.28,
};

const cases: { why: string; detail: TurnDetail; settings?: TrainerSettings | null; advantages: number[] | null }[] = [
  { why: 'w_rl · r + w_opd · (log π_T − log π_rollout)', detail: decided, advantages: [1, -0.5] },
  {
    why: 'no teacher in it, so its log-probs do not count',
    detail: turnDetail({ decision: { ...decision, case: 'rl' } }),
    advantages: [0.5, 0.5],
  },
  {
    why: 'the teacher alone',
    detail: turnDetail({ decision: { ...decision, case: 'opd', reward: 0 } }),
    advantages: [0.5, -1],
  },
  {
    why: 'it has no reward',
    detail: turnDetail({ decision: { ...decision, reward: null } }),
    advantages: [0.5, -1],
  },
  { why: 'dropped', detail: turnDetail({ decision: { ...decision, case: 'drop' } }), advantages: null },
  { why: 'not decided', detail: turnDetail({ decision: null, turn: turnRow({ state: 'judged' }) }), advantages: null },
  { why: 'refused afterwards', detail: turnDetail({ turn: turnRow({ state: 'closed' }) }), advantages: null },
  { why: 'trained', detail: turnDetail({ trained }), advantages: null },
  { why: 'its recording is gone', detail: turnDetail({ tokens: null }), advantages: null },
  { why: 'no trainer yet', detail: decided, settings: null, advantages: null },
  { why: 'no step has set the weights', detail: decided, settings: { ...trainer, wOpd: null }, advantages: null },
];
it.each(cases)('$advantages: $why', ({ detail, settings = trainer, advantages }) => {
  const expected = expectedAdvantages(detail, settings);
  expect(expected && [...decodeNumbers(expected.advantages)]).toEqual(advantages);
  if (expected) expect(expected).toMatchObject({ wRl: 0.5, wOpd: 2 });
});
