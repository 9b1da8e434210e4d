import { ChunkAssembler } from './chunk-assembler';
import { callsWithoutSayingSo, readCompletion, type CompletedAnswer } from './answer';
import { checkCapture } from './capture-check';

const assemble = (...choices: object[]): CompletedAnswer => {
  const assembler = new ChunkAssembler();
  for (const choice of choices) assembler.add({ id: 'r', model: 'seed', choices: [{ index: 0, ...choice }] });
  return assembler.answers(1)[0]!;
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

  it('D52 stores a tool call whose finish reason says stop, and flags it', () => {
    const answer = assemble(
      { delta: { tool_calls: [{ index: 0, id: 'a', function: { name: 'read', arguments: '{}' } }] } },
      { delta: {}, finish_reason: 'stop' },
    );
    expect(answer.message['tool_calls']).toHaveLength(1);
    expect(answer.finishReason).toBe('stop');
    expect(callsWithoutSayingSo(answer)).toBe(true);
    expect(callsWithoutSayingSo({ ...answer, finishReason: 'tool_calls' })).toBe(false);
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
    const verdict = checkCapture({ ...answer, promptIds: [9], usage: { promptTokens: 1, completionTokens: 3 } }, null);
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

  it('several choices, interleaved: each has its own message, ids and log-probs; prompt ids and usage are shared', () => {
    const assembler = new ChunkAssembler();
    const piece = (index: number, content: string, id: number, finish: string | null = null): object => ({
      index,
      delta: { content },
      token_ids: [id],
      logprobs: { content: [{ logprob: -id }] },
      finish_reason: finish,
    });
    assembler.add({ id: 'r', model: 'seed', prompt_token_ids: [7, 8], choices: [piece(1, 'b', 4), piece(0, 'a', 1)] });
    assembler.add({ choices: [piece(1, 'B', 5, 'length')] });
    expect([assembler.isFinished(1), assembler.isFinished(2)]).toEqual([false, false]);
    assembler.add({ choices: [piece(0, 'A', 2), piece(0, '!', 3, 'stop')] });
    assembler.add({ choices: [], usage: { prompt_tokens: 2, completion_tokens: 5 } });
    const shared = { responseId: 'r', model: 'seed', promptIds: [7, 8], sampledIds: 5, choices: 2 };
    expect(assembler.answers(2)).toEqual([
      expect.objectContaining({
        ...shared,
        index: 0,
        responseIds: [1, 2, 3],
        logProbs: [-1, -2, -3],
        finishReason: 'stop',
      }),
      expect.objectContaining({ ...shared, index: 1, responseIds: [4, 5], logProbs: [-4, -5], finishReason: 'length' }),
    ]);
    expect(assembler.answers(2).map(({ message }) => message['content'])).toEqual(['aA!', 'bB']);
    expect([assembler.isFinished(1), assembler.isFinished(2)]).toEqual([true, true]);
  });

  it('an empty finish reason is none', () => {
    const assembler = new ChunkAssembler();
    assembler.add({ choices: [{ index: 0, delta: { content: 'a' }, finish_reason: '' }] });
    expect([assembler.isFinished(1), assembler.answers(1)[0]!.finishReason]).toEqual([false, null]);
    assembler.add({ choices: [{ index: 0, delta: { content: 'b' }, finish_reason: 'stop' }] });
    assembler.add({ choices: [{ index: 0, delta: {}, finish_reason: '' }] });
    expect([assembler.isFinished(1), assembler.answers(1)[0]!.finishReason]).toEqual([true, 'stop']);
  });

  it.each([
    { role: 'user', fault: /role is "user"/ },
    { role: 5, fault: /role is a number/ },
  ])('a delta of the role $role is no answer of an assistant', ({ role, fault }) => {
    expect(assemble({ delta: { role, content: 'a' } }, { finish_reason: 'stop' }).fault).toMatch(fault);
  });
  it.each(['assistant', '', null, undefined])('a delta of the role %j is the assistant’s', (role) => {
    expect(assemble({ delta: { role, content: 'a' } }, { finish_reason: 'stop' }).fault).toBeUndefined();
  });

  it('a choice that never came is there with nothing; one that nobody asked for counts and is not there', () => {
    const assembler = new ChunkAssembler();
    assembler.add({ choices: [{ index: 2, delta: { content: 'x' }, token_ids: [1, 2], finish_reason: 'stop' }] });
    expect(assembler.isFinished(1)).toBe(false);
    expect(assembler.answers(1)).toEqual([
      expect.objectContaining({ index: 0, finishReason: null, responseIds: null, sampledIds: 2 }),
    ]);
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
    expect(assembler.answers(1)[0]).toMatchObject({ responseIds: null, logProbs: null, usage: null });
  });
});

describe('readCompletion', () => {
  it.each([
    {
      why: 'a message of the user',
      choices: [{ index: 0, message: { role: 'user' } }],
      fault: 'the message\'s role is "user"',
    },
    {
      why: 'two choices of one index',
      choices: [
        { index: 0, message: { content: 'a' } },
        { index: 0, message: { content: 'b' } },
      ],
      fault: 'two choices have the index 0',
    },
    { why: 'a good one', choices: [{ index: 0, message: { role: 'assistant' } }], fault: undefined },
  ])('$why: $fault', ({ choices, fault }) => {
    expect(readCompletion({ choices }, 1)![0]!.fault).toBe(fault);
  });
  it('an empty finish reason is none', () => {
    expect(readCompletion({ choices: [{ message: {}, finish_reason: '' }] }, 1)![0]!.finishReason).toBeNull();
  });

  it.each([null, [], 'x', {}, { choices: [] }, { choices: [{}] }, { choices: [{ message: 'x' }] }])(
    'refuses %j',
    (body) => {
      expect(readCompletion(body, 1)).toBeNull();
    },
  );

  it('takes every choice by its index, whatever the order', () => {
    const choice = (index: number): object => ({
      index,
      message: { role: 'assistant', content: `c${index}` },
      token_ids: [index],
      finish_reason: 'stop',
    });
    const answers = readCompletion({ id: 'r', prompt_token_ids: [9], choices: [choice(1), choice(0)] }, 2)!;
    expect(answers.map(({ message, responseIds }) => [message['content'], responseIds])).toEqual([
      ['c0', [0]],
      ['c1', [1]],
    ]);
  });
});

// As arguments of one call they would not fit on the stack.
it('takes a chunk of very many tokens', () => {
  const ids = Array.from({ length: 300_000 }, (_, index) => index);
  const content = ids.map(() => ({ token: 'x', logprob: -1 }));
  const answer = assemble(
    { token_ids: ids, logprobs: { content }, delta: { content: 'x' } },
    { token_ids: ids, logprobs: { content }, delta: { content: 'x' }, finish_reason: 'stop' },
  );
  expect([answer.responseIds?.length, answer.logProbs?.length]).toEqual([600_000, 600_000]);
  expect(assemble({ logprobs: { content }, delta: { content: 'x' } }).tokens).toHaveLength(300_000);
});
