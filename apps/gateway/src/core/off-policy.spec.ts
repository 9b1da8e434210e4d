import { engineRequest, withoutLogProbs } from './engine-request';
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
    { request: { repeat_penalty: 1.1 }, expected: 'penalty' },
    { request: { mirostat: 2 }, expected: 'sampler' },
    { request: { typical_p: 0.5 }, expected: 'sampler' },
    { request: { top_n_sigma: 1 }, expected: 'sampler' },
    {
      request: { repeat_penalty: 1, mirostat: 0, typical_p: 1, top_n_sigma: -1, dry_multiplier: null },
      expected: null,
    },
    { request: { logit_bias: { 5: 10 } }, expected: 'logit-bias' },
    { request: { min_tokens: 5 }, expected: 'min-tokens' },
    { request: { lora_path: 'other' }, expected: 'model' },
    { request: { custom_logit_processor: '{}' }, expected: 'logit-bias' },
    { request: { thinking_token_budget: 0 }, expected: 'thinking-budget' },
    { request: { watermark: { enabled: true } }, expected: 'watermark' },
    { request: { watermarking: false, lora_path: null }, expected: null },
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
      {
        messages,
        session_id: 's',
        turn_type: 'side',
        session_done: true,
        session_outcome: 'pending',
        ground_truth: '7',
        top_p: 0.5,
      },
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

describe('engineRequest for an openai server', () => {
  const messages = [{ role: 'user', content: 'x' }];
  const options = { dialect: 'openai', isCaptured: true, forceSampling: false } as const;

  it('sends nothing beyond OpenAI where no answer can train', () => {
    expect(engineRequest({ messages }, options).body).toEqual({ messages, logprobs: true, temperature: 1, top_p: 1 });
  });

  it('turns the samplers off that llama.cpp has on, where ids are found', () => {
    const { body } = engineRequest({ messages }, { ...options, recoversIds: true });
    expect(body).toMatchObject({ top_k: 0, min_p: 0, repeat_penalty: 1 });
    expect(offPolicyCause(samplingOf(body), body)).toBeNull();
    const asked = engineRequest({ messages, top_k: 40 }, { ...options, recoversIds: true }).body;
    expect(offPolicyCause(samplingOf(asked), asked)).toBe('top-k');
  });

  it('forces plain sampling, whatever samplers the client asks for', () => {
    const request = { messages, top_k: 40, repeat_penalty: 1.3, mirostat: 2, xtc_probability: 0.5 };
    const { body } = engineRequest(request, { ...options, recoversIds: true, forceSampling: true });
    expect(offPolicyCause(samplingOf(body), body)).toBeNull();
  });

  it('leaves top_logprobs as the client asked', () => {
    const { body, asked } = engineRequest({ messages, logprobs: true, top_logprobs: 3 }, options);
    expect(body).toMatchObject({ logprobs: true, top_logprobs: 3 });
    expect(asked.logProbs).toBe(false);
  });
});

describe('withoutLogProbs', () => {
  const messages = [{ role: 'user', content: 'x' }];
  const options = { dialect: 'openai', isCaptured: true, forceSampling: false } as const;
  const refusal = '{"error":{"code":400,"message":"logprobs is not supported with tools + stream"}}';
  it.each([
    { why: 'the server has none for such a request', request: {}, status: 400, refusal, repeats: true },
    { why: 'the client asked for them', request: { logprobs: true }, status: 400, refusal, repeats: false },
    { why: 'the client asked for alternatives', request: { top_logprobs: 2 }, status: 400, refusal, repeats: false },
    { why: 'another fault', request: {}, status: 400, refusal: '{"error":"no such model"}', repeats: false },
    { why: 'another status', request: {}, status: 503, refusal, repeats: false },
  ])('$why: $repeats', ({ request, status, refusal: said, repeats }) => {
    const plainer = withoutLogProbs(engineRequest({ messages, ...request }, options), status, said);
    expect(plainer).toEqual(repeats ? { messages, temperature: 1, top_p: 1 } : null);
  });
});
