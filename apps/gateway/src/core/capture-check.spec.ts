import type { CompletedAnswer } from './answer';
import { checkCapture } from './capture-check';

const good: CompletedAnswer = {
  responseId: 'r',
  model: 'seed',
  message: { role: 'assistant', content: 'hi' },
  finishReason: 'stop',
  index: 0,
  choices: 1,
  sampledIds: 2,
  promptIds: [1, 2],
  responseIds: [3, 4],
  logProbs: [-0.5, -1],
  usage: { promptTokens: 2, completionTokens: 2 },
};

describe('checkCapture', () => {
  it('D3 takes the engine’s ids and log-probs as they are', () => {
    expect(checkCapture(good, null)).toEqual({
      trainable: true,
      promptIds: [1, 2],
      responseIds: [3, 4],
      logProbs: [-0.5, -1],
    });
  });

  it.each([
    { why: 'D19 token_ids null', change: { responseIds: null }, reason: 'no-token-ids' },
    { why: 'ids that are no ids', change: { responseIds: [1.5, 2] }, reason: 'no-token-ids' },
    { why: 'D17 D11 no log-probs at all', change: { logProbs: null }, reason: 'no-log-probs' },
    {
      why: 'D20 5 ids, 4 log-probs',
      change: { responseIds: [1, 2, 3, 4, 5], logProbs: [-1, -1, -1, -1] },
      reason: 'length-mismatch',
    },
    { why: 'more log-probs than ids', change: { logProbs: [-1, -1, -1] }, reason: 'length-mismatch' },
    {
      why: 'ids of a swallowed chunk',
      change: { usage: { promptTokens: 2, completionTokens: 3 } },
      reason: 'length-mismatch',
    },
    {
      why: 'D30 the engine counts another prompt',
      change: { usage: { promptTokens: 3, completionTokens: 2 } },
      reason: 'prompt-mismatch',
    },
    { why: 'no prompt ids', change: { promptIds: null }, reason: 'no-prompt-ids' },
    { why: 'D24 NaN', change: { logProbs: [-1, NaN] }, reason: 'non-finite-log-probs' },
    { why: 'D24 −∞', change: { logProbs: [-1, -Infinity] }, reason: 'non-finite-log-probs' },
    { why: 'D23 −9999 is −∞', change: { logProbs: [-1, -9999] }, reason: 'non-finite-log-probs' },
    { why: 'a positive log-prob', change: { logProbs: [-1, 0.5] }, reason: 'non-finite-log-probs' },
    {
      why: 'a token swallowed in another choice',
      change: { choices: 2, sampledIds: 5, usage: { promptTokens: 2, completionTokens: 6 } },
      reason: 'length-mismatch',
    },
    { why: 'another choice without ids', change: { choices: 2, sampledIds: null }, reason: 'length-mismatch' },
    { why: 'no finish reason', change: { finishReason: null }, reason: 'malformed-stream' },
    { why: 'a finish reason nobody knows', change: { finishReason: 'repetition' }, reason: 'malformed-stream' },
    { why: 'one in capitals', change: { finishReason: 'STOP' }, reason: 'malformed-stream' },
    { why: 'an answer of another role', change: { fault: 'the role is user' }, reason: 'malformed-stream' },
    { why: 'the length limit', change: { finishReason: 'length' }, reason: 'truncated' },
    {
      why: 'a content of no known type',
      change: { message: { role: 'assistant', content: 5 } },
      reason: 'malformed-stream',
    },
    { why: 'a content filter', change: { finishReason: 'content_filter' }, reason: 'content-filter' },
    { why: 'nothing at all', change: { message: { content: '' }, responseIds: null }, reason: 'empty-answer' },
  ])('refuses $why: $reason', ({ change, reason }) => {
    expect(checkCapture({ ...good, ...change }, null)).toMatchObject({ trainable: false, reason });
  });

  it.each(['stop', 'tool_calls', 'function_call', 'eos_token', 'stop_sequence'])('takes %s', (finishReason) => {
    expect(checkCapture({ ...good, finishReason }, null).trainable).toBe(true);
  });

  it('says which finish reason nobody knows', () => {
    expect(checkCapture({ ...good, finishReason: 'x'.repeat(99) }, null)).toMatchObject({
      detail: `finish_reason "${'x'.repeat(40)}"`,
    });
  });

  it('D10 says both numbers', () => {
    const ids = Array.from({ length: 456 }, () => 1);
    const logProbs = Array.from({ length: 812 }, () => -1);
    expect(checkCapture({ ...good, responseIds: ids, logProbs }, null)).toMatchObject({
      detail: '456 ids, 812 log-probs',
    });
  });

  it.each([
    { sent: null, reason: undefined },
    { sent: [1, 2], reason: undefined },
    { sent: [2, 1], reason: 'prompt-mismatch' },
    { sent: [1, 2, 3], reason: 'prompt-mismatch' },
  ])('D30 a prompt sent as ids $sent comes back as it was, or is refused', ({ sent, reason }) => {
    const verdict = checkCapture(good, null, sent);
    expect(verdict.trainable ? undefined : verdict.reason).toBe(reason);
  });

  it('D26 names the cause of off-policy log-probs', () => {
    expect(checkCapture(good, 'temperature')).toMatchObject({ reason: 'off-policy:temperature' });
  });

  it('usage counts the ids of all choices together', () => {
    const usage = { promptTokens: 2, completionTokens: 6 };
    expect(checkCapture({ ...good, choices: 2, sampledIds: 6, usage }, null).trainable).toBe(true);
  });

  it('an answer without usage may lack events that nobody misses', () => {
    expect(checkCapture({ ...good, usage: null }, null)).toMatchObject({ trainable: false, reason: 'length-mismatch' });
  });
});
