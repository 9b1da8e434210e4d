import { hasNonFiniteNumber, refusalReason } from './refusal-reason';

it.each([
  {
    server: 'vLLM 0.33',
    body: {
      error: {
        message: "This model's maximum context length is 4096 tokens. However, your request has 5000 input tokens.",
        type: 'BadRequestError',
        param: 'input_tokens',
        code: 400,
      },
    },
    reason: 'too-long',
  },
  {
    server: 'vLLM 0.10',
    body: { error: { message: 'The decoder prompt (length 5000) is longer than the maximum model length of 4096.' } },
    reason: 'too-long',
  },
  {
    server: 'SGLang’s /generate',
    body: { error: { message: "The input (5000 tokens) is longer than the model's context length (4096 tokens)." } },
    reason: 'too-long',
  },
  {
    server: 'SGLang’s flat errors',
    body: {
      object: 'error',
      message: "Requested token count exceeds the model's maximum context length of 4096 tokens.",
    },
    reason: 'too-long',
  },
  {
    server: 'vLLM, about K',
    body: { error: { message: 'Requested prompt logprobs of 50, which is greater than max allowed: 20' } },
    reason: 'refused-by-engine',
  },
  { server: 'a proxy', body: { error: 'bad request' }, reason: 'refused-by-engine' },
  { server: 'nobody', body: null, reason: 'refused-by-engine' },
  { server: 'a list', body: [], reason: 'refused-by-engine' },
])('$server: $reason', ({ body, reason }) => {
  expect(refusalReason(body)).toBe(reason);
});

it.each([
  { text: '{"logprob":NaN}', is: true },
  { text: '[[-Infinity, 7, null]]', is: true },
  { text: '{"a": Infinity}', is: true },
  { text: '{"a":"NaN"', is: false },
  { text: '{"a":1', is: false },
])('D24: $text has numbers that are not finite: $is', ({ text, is }) => {
  expect(hasNonFiniteNumber(text)).toBe(is);
});
