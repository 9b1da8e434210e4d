import { engineRequest } from './engine-request';
import { offPolicyCause, samplingOf } from './off-policy';

const cause = (request: Record<string, unknown>): string | null => offPolicyCause(samplingOf(request), request);

describe('offPolicyCause', () => {
  it.each([
    { request: {}, expected: null },
    {
      request: { temperature: 1, top_p: 1, top_k: -1, min_p: 0, repetition_penalty: 1, seed: 3, logit_bias: {} },
      expected: null,
    },
    { request: { response_format: { type: 'json_schema' } }, expected: null },
    { request: { temperature: 0.6 }, expected: 'temperature' },
    { request: { temperature: 0 }, expected: 'temperature' },
    { request: { top_p: 0.95 }, expected: 'top-p' },
    { request: { top_k: 20 }, expected: 'top-k' },
    { request: { min_p: 0.1 }, expected: 'min-p' },
    { request: { presence_penalty: 0.5 }, expected: 'penalty' },
    { request: { frequency_penalty: -1 }, expected: 'penalty' },
    { request: { repetition_penalty: 1.1 }, expected: 'penalty' },
    { request: { logit_bias: { 5: 10 } }, expected: 'logit-bias' },
    { request: { min_tokens: 5 }, expected: 'min-tokens' },
    { request: { temperature: 'hot' }, expected: 'unreadable-sampling' },
    { request: { top_p: 5 }, expected: 'unreadable-sampling' },
  ])('D15 D26 $request → $expected', ({ request, expected }) => {
    expect(cause(request)).toBe(expected);
  });
});

describe('engineRequest', () => {
  const messages = [{ role: 'user', content: 'x' }];
  const options = { dialect: 'vllm', isCaptured: true, forceSampling: false } as const;

  it('asks for what a capture needs and says how to sample', () => {
    const { body, asked } = engineRequest({ messages, stream: true, temperature: 0.3 }, options);
    expect(body).toMatchObject({
      logprobs: true,
      return_token_ids: true,
      stream_options: { include_usage: true },
      temperature: 0.3,
      top_p: 1,
      top_k: -1,
    });
    expect(asked).toEqual({ tokenIds: true, logProbs: true, usage: true });
  });

  it('changes nothing of a side request but our own fields', () => {
    const { body, asked } = engineRequest(
      { messages, session_id: 's', turn_type: 'side', session_done: true, top_p: 0.5 },
      { ...options, isCaptured: false },
    );
    expect(body).toEqual({ messages, top_p: 0.5 });
    expect(asked).toEqual({ tokenIds: false, logProbs: false, usage: false });
  });

  it('SAMPLING=force overrides the client', () => {
    const { body } = engineRequest(
      { messages, temperature: 0.2, top_p: 0.5, top_k: 3, presence_penalty: 1 },
      { ...options, forceSampling: true },
    );
    expect(cause(body)).toBeNull();
  });

  it('does not count as ours what the client asked for', () => {
    const request = {
      messages,
      stream: true,
      logprobs: true,
      return_token_ids: true,
      stream_options: { include_usage: true },
    };
    expect(engineRequest(request, options).asked).toEqual({ tokenIds: false, logProbs: false, usage: false });
  });
});
