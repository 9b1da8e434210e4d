import { decodeCapture, encodeCapture, type Capture } from './capture';

const capture: Capture = {
  header: {
    turnId: '7f9c24e8-3b12-4fef-91e0-56a2d5a0c3b1',
    tenant: 'default',
    sessionId: null,
    responseId: 'chatcmpl-1',
    model: 'seed',
    policyVersion: 0,
    dialect: 'vllm',
    messages: [{ role: 'user', content: 'häßlich 😀' }],
    tools: null,
    templateArguments: null,
    answer: { role: 'assistant', content: 'x' },
    sampling: {
      temperature: 1,
      topP: 1,
      topK: null,
      minP: null,
      presencePenalty: 0,
      frequencyPenalty: 0,
      repetitionPenalty: null,
      seed: null,
    },
    finishReason: 'stop',
    at: 1,
  },
  promptIds: Int32Array.of(5, 2, 3),
  responseIds: Int32Array.of(7, 4),
  rolloutLogProbs: Float32Array.of(-0.5, -1.25),
};

it('round trip is exact, from a Buffer inside a shared pool too', () => {
  const bytes = encodeCapture(capture);
  const pooled = Buffer.concat([Buffer.from('abc'), bytes]).subarray(3);
  for (const value of [bytes, Buffer.from(bytes), pooled]) expect(decodeCapture(value)).toEqual(capture);
});

it('is refused when cut at any byte', () => {
  const bytes = encodeCapture(capture);
  for (let length = 0; length < bytes.length; length++) {
    expect(() => decodeCapture(bytes.subarray(0, length))).toThrow(RangeError);
  }
});

it.each([
  { name: 'lengths differ', over: { rolloutLogProbs: Float32Array.of(-1) }, message: '2 sampled ids but 1 log-probs' },
  { name: 'a log-prob is NaN', over: { rolloutLogProbs: Float32Array.of(-1, Number.NaN) }, message: 'not finite' },
  { name: 'an id is negative', over: { promptIds: Int32Array.of(-1) }, message: 'not an int32 ≥ 0' },
  {
    name: 'nothing was sampled',
    over: { responseIds: new Int32Array(), rolloutLogProbs: new Float32Array() },
    message: 'at least one sampled id',
  },
])('is never written when $name', ({ over, message }) => {
  expect(() => encodeCapture({ ...capture, ...over })).toThrow(message);
});
