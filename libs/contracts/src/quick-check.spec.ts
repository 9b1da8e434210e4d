import fc from 'fast-check';
import { CaptureHeader, Sampling } from './capture';
import { isHeaderWithoutMessages, isCapturedMessage, isSampling } from './quick-check';
import { messageSchema } from './registry';

const turnId = '7f9c24e8-3b12-4fef-91e0-56a2d5a0c3b1';
const sampling: Sampling = {
  temperature: 1,
  topP: 1,
  topK: null,
  minP: 0,
  presencePenalty: 0,
  frequencyPenalty: -0.5,
  repetitionPenalty: 1,
  seed: 7,
};
const header: Omit<CaptureHeader, 'messages'> = {
  turnId,
  tenant: 'default',
  sessionId: '0123456789abcdef',
  responseId: 'chatcmpl-1',
  model: 'seed',
  policyVersion: 0,
  dialect: 'vllm',
  tools: null,
  templateArguments: { enable_thinking: false },
  answer: { role: 'assistant', content: 'Hello' },
  sampling,
  finishReason: 'stop',
  at: 1_796_000_000_000,
};
const message = {
  v: 1 as const,
  turnId,
  tenant: 'default',
  at: 1,
  body: {
    responseId: 'chatcmpl-1',
    sessionId: null,
    policyVersion: 3,
    model: 'seed',
    promptTokens: 3,
    completionTokens: null,
    finishReason: 'stop',
    untrainable: null,
    userId: null,
    outcomePending: false,
  },
};

interface Check {
  readonly name: string;
  readonly right: object;
  readonly isRight: (value: never) => boolean;
  readonly schema: { safeParse(value: unknown): { success: boolean; data?: unknown } };
}
const checks: readonly Check[] = [
  { name: 'sampling', right: sampling, isRight: isSampling, schema: Sampling },
  {
    name: 'the header of a capture',
    right: header,
    isRight: isHeaderWithoutMessages,
    schema: CaptureHeader.omit({ messages: true }),
  },
  { name: 'turnCaptured', right: message, isRight: isCapturedMessage, schema: messageSchema('turnCaptured') },
];

/** Paths of all members, those of members too. */
const pathsOf = (value: unknown, path: readonly string[] = []): (readonly string[])[] =>
  typeof value === 'object' && value !== null
    ? Object.entries(value).flatMap(([name, inner]) => [[...path, name], ...pathsOf(inner, [...path, name])])
    : [];

function changed(value: unknown, [name, ...rest]: readonly string[], to: unknown): unknown {
  if (name === undefined) return to;
  const copy = (Array.isArray(value) ? [...(value as unknown[])] : { ...(value as object) }) as Record<string, unknown>;
  if (to === REMOVED && rest.length === 0) delete copy[name];
  else copy[name] = changed(copy[name], rest, to);
  return copy;
}

const REMOVED = Symbol('removed');
const ODD = fc.oneof(
  fc.constantFrom<unknown>(REMOVED, undefined, null, NaN, Infinity, -1, 0, 0.5, 2 ** 53, '', 'x', 'X'.repeat(129), []),
  fc.constantFrom<unknown>({}, [null], [[]], [1], { constructor: 1 }, { constructor: Object }, new Date(0), new Map()),
  fc.constant(JSON.parse('{"__proto__":1}') as unknown),
  fc.anything(),
);

describe.each(checks)('a quick look at $name', ({ right, isRight, schema }) => {
  it('knows what is right', () => {
    expect(isRight(right as never)).toBe(true);
  });

  it('never says yes where the schema says no, or would change something', () => {
    fc.assert(
      fc.property(fc.constantFrom(...pathsOf(right)), ODD, (path, odd) => {
        const value = changed(right, path, odd);
        if (!isRight(value as never)) return;
        const parsed = schema.safeParse(value);
        expect(parsed.success).toBe(true);
        expect(JSON.stringify(parsed.data)).toBe(JSON.stringify(value));
      }),
      { numRuns: 2_000 },
    );
  });

  it('leaves what has a member too many to the schema', () => {
    expect(isRight({ ...right, another: 1 } as never)).toBe(false);
  });
});
