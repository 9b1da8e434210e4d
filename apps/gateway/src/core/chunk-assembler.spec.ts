import { ChunkAssembler } from './chunk-assembler';
import { readCompletion } from './answer';
import { checkCapture } from './capture-check';

const assemble = (...choices: object[]): ReturnType<ChunkAssembler['answer']> => {
  const assembler = new ChunkAssembler();
  for (const choice of choices) assembler.add({ id: 'r', model: 'seed', choices: [{ index: 0, ...choice }] });
  return assembler.answer();
};
const call = (index: number, part: object): object => ({ index, function: part });

describe('ChunkAssembler', () => {
  it('D50 puts parallel tool calls together by index', () => {
    const { message } = assemble(
      { delta: { role: 'assistant', content: null } },
      {
        delta: {
          tool_calls: [
            { index: 0, id: 'a', type: 'function', function: { name: 'read', arguments: '' } },
            { index: 1, id: 'b', type: 'function', function: { name: 'list', arguments: '{"d' } },
          ],
        },
      },
      { delta: { tool_calls: [call(1, { arguments: '":1}' }), call(0, { arguments: '{"p":' })] } },
      { delta: { tool_calls: [call(0, { arguments: '"x"}' })] } },
      { delta: {}, finish_reason: 'tool_calls' },
    );
    expect(message).toEqual({
      role: 'assistant',
      content: null,
      tool_calls: [
        { id: 'a', type: 'function', function: { name: 'read', arguments: '{"p":"x"}' } },
        { id: 'b', type: 'function', function: { name: 'list', arguments: '{"d":1}' } },
      ],
    });
  });

  it('D51 keeps tool calls that come after reasoning', () => {
    const { message, finishReason } = assemble(
      { delta: { reasoning_content: 'let me ' } },
      { delta: { reasoning_content: 'look' } },
      { delta: { tool_calls: [{ index: 0, id: 'a', function: { name: 'read', arguments: '{}' } }] } },
      { delta: {}, finish_reason: 'tool_calls' },
    );
    expect(message).toMatchObject({ reasoning_content: 'let me look', tool_calls: [{ function: { name: 'read' } }] });
    expect(finishReason).toBe('tool_calls');
  });

  it('D52 stores a tool call whose finish reason says stop', () => {
    const { message, finishReason } = assemble(
      { delta: { tool_calls: [{ index: 0, id: 'a', function: { name: 'read', arguments: '{}' } }] } },
      { delta: {}, finish_reason: 'stop' },
    );
    expect(message['tool_calls']).toHaveLength(1);
    expect(finishReason).toBe('stop');
  });

  it('D14 keeps the ids of control tokens that never show as text', () => {
    const logprobs = (logprob: number): object => ({ content: [{ token: '', logprob }] });
    const { responseIds, logProbs, message } = assemble(
      { delta: { content: 'a' }, token_ids: [5], logprobs: logprobs(-1) },
      { delta: {}, token_ids: [151657], logprobs: logprobs(-2) },
      { delta: { content: 'b' }, token_ids: [6, 151658], logprobs: { content: [{ logprob: -3 }, { logprob: -4 }] } },
    );
    expect(responseIds).toEqual([5, 151657, 6, 151658]);
    expect(logProbs).toEqual([-1, -2, -3, -4]);
    expect(message['content']).toBe('ab');
  });

  it.each([
    { name: 'without log-probs', bundle: null, trainable: false },
    {
      name: 'with all of them on the first chunk',
      bundle: { content: [{ logprob: -1 }, { logprob: -2 }, { logprob: -3 }] },
      trainable: true,
    },
  ])('D21 reasoning chunks $name: trainable $trainable', ({ bundle, trainable }) => {
    const answer = assemble(
      { delta: { reasoning_content: 'a' }, token_ids: [1], logprobs: bundle },
      { delta: { reasoning_content: 'b' }, token_ids: [2], logprobs: null },
      {
        delta: { content: 'c' },
        token_ids: [3],
        logprobs: bundle ? null : { content: [{ logprob: -3 }] },
        finish_reason: 'stop',
      },
    );
    const verdict = checkCapture({ ...answer, promptIds: [9] }, null);
    expect(verdict.trainable).toBe(trainable);
    if (verdict.trainable) expect(verdict.logProbs).toEqual([-1, -2, -3]);
    else expect(verdict.reason).toBe('length-mismatch');
  });

  it('D29 does without log-probs in the last chunk', () => {
    const { finishReason, logProbs } = assemble(
      { delta: { content: 'a' }, token_ids: [5], logprobs: { content: [{ logprob: -1 }] } },
      { delta: {}, logprobs: null, finish_reason: 'stop' },
    );
    expect(logProbs).toEqual([-1]);
    expect(finishReason).toBe('stop');
  });

  it('a log-prob that is no number stays visible as NaN', () => {
    expect(assemble({ logprobs: { content: [{ logprob: null }, {}] } }).logProbs).toEqual([NaN, NaN]);
  });

  it('a name repeated in every delta is not doubled', () => {
    const { message } = assemble(
      { delta: { tool_calls: [call(0, { name: 'read', arguments: '{' })] } },
      { delta: { tool_calls: [call(0, { name: 'read', arguments: '}' })] } },
    );
    expect(message['tool_calls']).toMatchObject([{ function: { name: 'read', arguments: '{}' } }]);
  });

  it('survives chunks of any shape', () => {
    const assembler = new ChunkAssembler();
    for (const chunk of [
      {},
      { choices: null },
      { choices: [null, 1, {}] },
      { choices: [{ delta: 'x', logprobs: 3 }] },
      { usage: 'x' },
    ])
      assembler.add(chunk);
    expect(assembler.answer()).toMatchObject({ responseIds: null, logProbs: null, usage: null });
  });
});

describe('readCompletion', () => {
  it.each([null, [], 'x', {}, { choices: [] }, { choices: [{}] }, { choices: [{ message: 'x' }] }])(
    'refuses %j',
    (body) => {
      expect(readCompletion(body)).toBeNull();
    },
  );
});
