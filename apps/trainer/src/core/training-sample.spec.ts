import { trainingSample } from '../testing/fixtures';
import { inputLength, refusalOf, stalenessOf } from './training-sample';

const limits = { vocabSize: 1024, maxPositions: 512, tokenBudget: 1024 };
const ids = (length: number, id = 1): Int32Array => new Int32Array(length).fill(id);

describe('refusalOf', () => {
  it.each([
    { prompt: 500, response: 13, reason: undefined, why: 'the last token is predicted, not read' },
    { prompt: 500, response: 14, reason: 'over-token-budget', why: 'one position too many' },
  ])('$prompt + $response tokens of 512 positions: $reason, $why', ({ prompt, response, reason }) => {
    const sample = trainingSample({ promptIds: ids(prompt), responseIds: ids(response) });
    expect(refusalOf(sample, limits)?.reason).toBe(reason);
  });
  it('D57: names both numbers when a padded sample is beyond the token budget', () => {
    const sample = trainingSample({ promptIds: ids(200), responseIds: ids(2) });
    expect(refusalOf(sample, { ...limits, tokenBudget: 255 })?.detail).toBe(
      '201 tokens, padded to 256, the budget is 255',
    );
    expect(inputLength(sample)).toBe(201);
  });
  it('refuses an id beyond the vocabulary, in prompt or answer', () => {
    const refusal = { reason: 'out-of-vocabulary', detail: 'token id 1024, the vocabulary has 1024' };
    expect(refusalOf(trainingSample({ promptIds: ids(3, 1024) }), limits)).toEqual(refusal);
    expect(refusalOf(trainingSample({ responseIds: ids(3, 1024) }), limits)).toEqual(refusal);
    expect(refusalOf(trainingSample({ responseIds: ids(3, 1023) }), limits)).toBeNull();
  });
});

describe('a log-prob that means nothing', () => {
  it.each([
    {
      over: { rolloutLogProbs: Float32Array.of(-1, -9999, -1, -1) },
      detail: 'the rollout log-prob of token 1 is -9999',
    },
    { over: { rolloutLogProbs: Float32Array.of(-1, -1, NaN, -1) }, detail: 'the rollout log-prob of token 2 is NaN' },
    {
      over: { teacherLogProbs: Float32Array.of(-Infinity, -1, -1, -1) },
      detail: 'the teacher log-prob of token 0 is -Infinity',
    },
  ])('refuses the sample: $detail', ({ over, detail }) => {
    expect(refusalOf(trainingSample(over), limits)).toEqual({ reason: 'non-finite', detail });
  });
  it('takes one that is only very unlikely', () => {
    expect(refusalOf(trainingSample({ rolloutLogProbs: new Float32Array(4).fill(-9998) }), limits)).toBeNull();
  });
});

describe('stalenessOf', () => {
  it('is the lag in versions, never negative', () => {
    expect(stalenessOf({ policyVersion: 3 }, 7)).toBe(4);
    expect(stalenessOf({ policyVersion: 9 }, 7)).toBe(0);
  });
});
