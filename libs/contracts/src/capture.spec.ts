import fc from 'fast-check';
import { decodeCapture, encodeCapture, type Capture } from './capture';

const header: Capture['header'] = {
  turnId: '7f9c24e8-3b12-4fef-91e0-56a2d5a0c3b1',
  tenant: 'default',
  sessionId: null,
  responseId: 'chatcmpl-1',
  model: 'seed',
  policyVersion: 0,
  dialect: 'vllm',
  messages: [{ role: 'user', content: 'Grüße, 世界 🙂' }],
  tools: null,
  templateArguments: { enable_thinking: false },
  answer: { role: 'assistant', content: 'Hi.' },
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
  at: 1_796_000_000_000,
};
const capture: Capture = {
  header,
  promptIds: Int32Array.of(1, 2, 3),
  responseIds: Int32Array.of(7, 0x7fffffff),
  rolloutLogProbs: Float32Array.of(-0, -1.401298464324817e-45),
};
const bytesOf = (array: Int32Array | Float32Array): number[] => [
  ...new Uint8Array(array.buffer, array.byteOffset, array.byteLength),
];
const expectSame = (decoded: Capture, original: Capture): void => {
  expect(decoded.header).toEqual(original.header);
  for (const field of ['promptIds', 'responseIds', 'rolloutLogProbs'] as const) {
    expect(bytesOf(decoded[field])).toEqual(bytesOf(original[field]));
  }
};

it('keeps messages that are JSON already as they are written', () => {
  const written = '[ {"role":"user", "content":"Gr\\u00fc\u00dfe, 世界 🙂", "n":9007199254740993} ]';
  const messages = JSON.parse(written) as Capture['header']['messages'];
  const bytes = encodeCapture({ ...capture, header: { ...header, messages: [...messages] } }, Buffer.from(written));
  expect(Buffer.from(bytes).includes(written)).toBe(true);
  expectSame(decodeCapture(bytes), { ...capture, header: { ...header, messages } });
});

it('comes back exactly, whatever the header', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'grapheme' }),
      fc.array(fc.nat(0x7fffffff), { minLength: 1 }),
      fc.array(fc.tuple(fc.nat(0x7fffffff), fc.float({ max: 0, noNaN: true, noDefaultInfinity: true })), {
        minLength: 1,
      }),
      (content, prompt, sampled) => {
        const original: Capture = {
          header: { ...header, messages: [{ role: 'user', content }] },
          promptIds: Int32Array.from(prompt),
          responseIds: Int32Array.from(sampled.map(([id]) => id)),
          rolloutLogProbs: Float32Array.from(sampled.map(([, logProb]) => logProb)),
        };
        expectSame(decodeCapture(encodeCapture(original)), original);
      },
    ),
  );
});

it('is read from bytes at any alignment', () => {
  const bytes = encodeCapture(capture);
  for (let offset = 0; offset < 4; offset++) {
    const shifted = new Uint8Array(bytes.length + offset);
    shifted.set(bytes, offset);
    expectSame(decodeCapture(shifted.subarray(offset)), capture);
  }
});

it('is refused when cut at any byte, or with one too many', () => {
  const bytes = encodeCapture(capture);
  for (let length = 0; length < bytes.length; length++) {
    expect(() => decodeCapture(bytes.subarray(0, length))).toThrow(RangeError);
  }
  expect(() => decodeCapture(Uint8Array.of(...bytes, 0))).toThrow(RangeError);
});

it('is refused with any wrong byte in magic or lengths', () => {
  const bytes = encodeCapture(capture);
  for (let position = 0; position < 16; position++) {
    const broken = bytes.slice();
    broken[position]! ^= 0x55;
    expect(() => decodeCapture(broken)).toThrow(RangeError);
  }
});

it.each([
  ['no prompt', { promptIds: new Int32Array() }],
  ['no answer', { responseIds: new Int32Array(), rolloutLogProbs: new Float32Array() }],
  ['fewer log-probs than ids', { rolloutLogProbs: Float32Array.of(-1) }],
  ['NaN', { rolloutLogProbs: Float32Array.of(-1, Number.NaN) }],
  ['−∞', { rolloutLogProbs: Float32Array.of(-1, -Infinity) }],
  ['a positive log-prob', { rolloutLogProbs: Float32Array.of(-1, 0.5) }],
  ['a negative id', { responseIds: Int32Array.of(7, -1) }],
])('is refused with %s', (_, change) => {
  expect(() => encodeCapture({ ...capture, ...change })).toThrow(RangeError);
});

it('is refused when its values were broken after it was written', () => {
  const bytes = encodeCapture(capture);
  const last = bytes.slice();
  new DataView(last.buffer).setFloat32(last.length - 4, Number.NaN, true);
  expect(() => decodeCapture(last)).toThrow(/not finite/);
  const text = bytes.slice();
  text[16] = 0x58;
  expect(() => decodeCapture(text)).toThrow('capture header is not JSON');
});
