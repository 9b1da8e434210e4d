import { NO_ANSWER, withChunk, type ChatAnswer } from './chat-answer';

const read = (...chunks: (object | string)[]): ChatAnswer =>
  chunks.reduce<ChatAnswer>(
    (answer, chunk) => withChunk(answer, typeof chunk === 'string' ? chunk : JSON.stringify(chunk)),
    NO_ANSWER,
  );

describe('a streamed answer', () => {
  it('grows piece by piece, and ends with its reason, its counts and who answered', () => {
    const answer = read(
      { model: 'hindcast-v000002', choices: [{ delta: { role: 'assistant', content: '' }, finish_reason: null }] },
      { choices: [{ delta: { content: 'Good ' }, finish_reason: null }] },
      { choices: [{ delta: { content: 'day' }, finish_reason: 'stop' }], usage: null },
      { choices: [], usage: { prompt_tokens: 9, completion_tokens: 2 } },
      '[DONE]',
    );
    expect(answer).toEqual({
      text: 'Good day',
      reasoning: '',
      model: 'hindcast-v000002',
      finishReason: 'stop',
      promptTokens: 9,
      completionTokens: 2,
      error: null,
      isComplete: true,
    });
  });

  it('has no counts where the engine gives none', () => {
    expect(read({ choices: [{ delta: { content: 'x' } }] }, '[DONE]')).toMatchObject({
      promptTokens: null,
      completionTokens: null,
    });
  });

  it('keeps what a model thinks apart', () => {
    expect(
      read({ choices: [{ delta: { reasoning_content: 'hm' } }] }, { choices: [{ delta: { content: 'x' } }] }),
    ).toMatchObject({
      reasoning: 'hm',
      text: 'x',
    });
  });

  it.each<[object | string, string]>([
    [{ error: { message: 'out of memory', type: 'server_error' } }, 'out of memory'],
    [{ error: 'gone' }, 'gone'],
    [{ error: { code: 7 } }, '{"code":7}'],
    ['<html>', 'The stream holds something that is no JSON.'],
  ])('says what went wrong after some text: %j', (chunk, error) => {
    expect(read({ choices: [{ delta: { content: 'so far' } }] }, chunk)).toMatchObject({
      text: 'so far',
      error,
      isComplete: false,
    });
  });
});
