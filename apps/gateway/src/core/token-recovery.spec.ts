import { isRefusal } from './refusal';
import { choosePromptIds, endedByModel, recoverIds, unscoredRefusal, type ShownAnswer } from './token-recovery';
import type { TokenEntry } from './token-entry';
import { entry, vocabularyOf } from '../testing/small-vocabulary';

const VOCABULARY = vocabularyOf([
  'Hi',
  ' you',
  '.',
  'é',
  [0xc3],
  [0xa9],
  '<|end|>',
  '<tool>',
  '\uFFFD',
  'x',
  'x',
  ' .',
]);
const [HI, YOU, DOT, E_ACUTE, HALF, REST, END, TOOL] = [0, 1, 2, 3, 4, 5, 6, 7] as const;

const shows = (text: string): TokenEntry => entry({ token: text, bytes: [...Buffer.from(text)] });
const answer = (tokens: readonly TokenEntry[], content: string, over: Partial<ShownAnswer> = {}): ShownAnswer => ({
  tokens,
  message: { role: 'assistant', content },
  endedByModel: true,
  countedTokens: tokens.length,
  ...over,
});

describe('recoverIds', () => {
  it.each<{ why: string; given: ShownAnswer; ids: number[]; hiddenTokens?: number }>([
    { why: 'bytes that one token has', given: answer([shows('Hi'), shows(' you')], 'Hi you'), ids: [HI, YOU] },
    { why: 'a special end token by its text', given: answer([shows('Hi'), shows('<|end|>')], 'Hi'), ids: [HI, END] },
    {
      why: 'a special token without bytes, by its literal token',
      given: answer([shows('Hi'), entry({ token: '<|end|>' })], 'Hi'),
      ids: [HI, END],
    },
    { why: 'an ordinary token without bytes, by its text', given: answer([entry({ token: 'Hi' })], 'Hi'), ids: [HI] },
    {
      why: 'the pieces of one character, by their own bytes',
      given: answer([entry({ token: '\uFFFD', bytes: [0xc3] }), entry({ token: '\uFFFD', bytes: [0xa9] })], 'é'),
      ids: [HALF, REST],
    },
    {
      why: "the server's own id decides between equal bytes (llama.cpp)",
      given: answer([{ ...shows('x'), id: 10 }], 'x'),
      ids: [10],
    },
    {
      why: 'a special token that is shown as nothing, by the id (llama.cpp)',
      given: answer(
        [
          { ...shows('Hi'), id: HI },
          { ...shows(''), id: END },
        ],
        'Hi',
      ),
      ids: [HI, END],
    },
    {
      why: 'an end token that is counted and not shown is left out (Ollama)',
      given: answer([shows('Hi')], 'Hi', { countedTokens: 2 }),
      ids: [HI],
      hiddenTokens: 1,
    },
    {
      why: "the same beyond ASCII where the ids are the server's (llama.cpp, streamed)",
      given: answer([{ ...shows('é'), id: E_ACUTE }], 'é', { countedTokens: 2 }),
      ids: [E_ACUTE],
      hiddenTokens: 1,
    },
    {
      why: 'tool calls are written otherwise than sampled; their names are among the tokens',
      given: answer([shows('<tool>'), shows('Hi')], '', {
        message: { content: null, tool_calls: [{ function: { name: 'Hi', arguments: '{}' } }] },
      }),
      ids: [TOOL, HI],
    },
    {
      why: 'reasoning and content are among the tokens',
      given: answer([shows('<tool>'), shows('Hi'), shows('<tool>'), shows(' you'), shows('<|end|>')], '', {
        message: { reasoning_content: 'Hi', content: 'you' },
      }),
      ids: [TOOL, HI, TOOL, YOU, END],
    },
    {
      why: 'special tokens that the server leaves in the text',
      given: answer([shows('Hi'), shows('<|end|>')], 'Hi<|end|>'),
      ids: [HI, END],
    },
  ])('finds $why', ({ given, ids, hiddenTokens = 0 }) => {
    expect(recoverIds(given, VOCABULARY)).toEqual({ ids, hiddenTokens });
  });

  it.each<{ why: string; given: ShownAnswer; reason: string; detail: string }>([
    {
      why: 'two tokens with equal bytes',
      given: answer([shows('x')], 'x'),
      reason: 'ambiguous-tokens',
      detail: 'token 0: several tokens of the vocabulary have its bytes',
    },
    {
      why: 'bytes of no token',
      given: answer([shows('Hi'), shows('zzz')], 'Hizzz'),
      reason: 'no-token-ids',
      detail: 'token 1: no token of the vocabulary has its bytes',
    },
    {
      why: 'neither bytes nor text',
      given: answer([entry({})], 'Hi'),
      reason: 'no-token-ids',
      detail: 'token 0: neither',
    },
    {
      why: 'no bytes and empty text',
      given: answer([shows('')], ''),
      reason: 'no-token-ids',
      detail: 'token 0: neither',
    },
    {
      why: 'half a character as text',
      given: answer([entry({ token: '\uFFFD' })], '\uFFFD'),
      reason: 'ambiguous-tokens',
      detail: 'token 0: U+FFFD',
    },
    {
      why: 'half a character whose bytes are those of U+FFFD, which is a token too (vLLM)',
      given: answer([shows('\uFFFD')], '\uFFFD'),
      reason: 'ambiguous-tokens',
      detail: 'token 0: U+FFFD',
    },
    {
      why: "an id that the vocabulary does not have: another model's tokenizer",
      given: answer([{ ...shows('Hi'), id: 999 }], 'Hi'),
      reason: 'no-token-ids',
      detail: 'token 0: the vocabulary has no id 999',
    },
    {
      why: 'an id of other bytes: several tokens in one entry, or another tokenizer',
      given: answer([{ ...shows('é'), id: REST }], 'é'),
      reason: 'ambiguous-tokens',
      detail: 'token 0: its bytes are not those of id 5',
    },
    {
      why: 'an ordinary token shown as nothing',
      given: answer([{ ...shows(''), id: HI }], ''),
      reason: 'ambiguous-tokens',
      detail: 'token 0: its bytes are not those of id 0',
    },
    {
      why: 'tokens that are not the text: a stop text was cut off, or a space was lost',
      given: answer([shows('Hi'), shows('.')], 'Hi .'),
      reason: 'ambiguous-tokens',
      detail: "the tokens are not the answer's text",
    },
    {
      why: 'reasoning that is not among the tokens',
      given: answer([shows('Hi')], '', { message: { reasoning: 'you', content: 'Hi' } }),
      reason: 'ambiguous-tokens',
      detail: 'a part of the answer is not among its tokens',
    },
    {
      why: 'more counted than one end token',
      given: answer([shows('Hi')], 'Hi', { countedTokens: 3 }),
      reason: 'length-mismatch',
      detail: '1 tokens shown, usage says 3',
    },
    {
      why: 'fewer counted than shown',
      given: answer([shows('Hi'), shows(' you')], 'Hi you', { countedTokens: 1 }),
      reason: 'length-mismatch',
      detail: '2 tokens shown, usage says 1',
    },
    {
      why: 'one more counted where the length limit or a stop text ended it',
      given: answer([shows('Hi')], 'Hi', { countedTokens: 2, endedByModel: false }),
      reason: 'length-mismatch',
      detail: '1 tokens shown, usage says 2',
    },
    {
      why: 'one more counted although the end token is shown',
      given: answer([shows('Hi'), shows('<|end|>')], 'Hi', { countedTokens: 3 }),
      reason: 'length-mismatch',
      detail: '2 tokens shown, usage says 3',
    },
    {
      why: 'one more counted, which may be half of a character',
      given: answer([shows('é')], 'é', { countedTokens: 2 }),
      reason: 'length-mismatch',
      detail: '1 tokens shown, usage says 2',
    },
    {
      why: 'one more counted beside a tool call, where any token may be missing',
      given: answer([shows('<tool>'), shows('Hi')], '', {
        message: { content: null, tool_calls: [{ function: { name: 'Hi', arguments: '{}' } }] },
        countedTokens: 3,
      }),
      reason: 'length-mismatch',
      detail: '2 tokens shown, usage says 3',
    },
  ])('refuses $why', ({ given, reason, detail }) => {
    expect(recoverIds(given, VOCABULARY)).toEqual({ reason, detail: expect.stringContaining(detail) as string });
  });

  it.each<{ why: string; given: ShownAnswer; ids: number[] | null }>([
    { why: 'a later token shows its space', given: answer([shows('Hi'), shows(' you')], 'Hi you'), ids: [HI, YOU] },
    { why: 'the only word may have lost its space', given: answer([shows('Hi'), shows('.')], 'Hi.'), ids: null },
    {
      why: "the ids are the server's",
      given: answer(
        [
          { ...shows('Hi'), id: HI },
          { ...shows('.'), id: DOT },
        ],
        'Hi.',
      ),
      ids: [HI, DOT],
    },
    {
      why: 'nothing proves the spaces of a tool call',
      given: answer([shows('<tool>'), shows('Hi'), shows(' you')], '', {
        message: { tool_calls: [{ function: { name: 'Hi', arguments: '{}' } }] },
      }),
      ids: null,
    },
  ])('SentencePiece: $why', ({ given, ids }) => {
    const vocabulary = vocabularyOf(
      ['Hi', ' you', '.', 'é', [0xc3], [0xa9], '<|end|>', '<tool>', ' Hi'],
      'spaces-stripped',
    );
    const found = recoverIds(given, vocabulary);
    expect('ids' in found ? found.ids : null).toEqual(ids);
  });
});

describe('choosePromptIds', () => {
  it.each([
    { why: 'as the template writes it', counted: 2, found: { promptIds: [1, 2] } },
    { why: "with the tokenizer's own marks", counted: 3, found: { promptIds: [0, 1, 2] } },
    { why: 'neither', counted: 4, found: { reason: 'prompt-mismatch', detail: '2 or 3 prompt ids, usage says 4' } },
  ])('$why', ({ counted, found }) => {
    expect(
      choosePromptIds(
        [
          [1, 2],
          [0, 1, 2],
        ],
        counted,
      ),
    ).toEqual(found);
  });
});

describe('endedByModel', () => {
  it.each([
    { finishReason: 'stop', request: {}, ended: true },
    { finishReason: 'tool_calls', request: { stop: [] }, ended: true },
    { finishReason: 'stop', request: { stop: ['END'] }, ended: false },
    { finishReason: 'stop', request: { stop: 'END' }, ended: false },
    { finishReason: 'length', request: {}, ended: false },
    { finishReason: null, request: {}, ended: false },
  ])('$finishReason with $request: $ended', ({ finishReason, request, ended }) => {
    expect(endedByModel({ finishReason }, request)).toBe(ended);
  });
});

describe('unscoredRefusal', () => {
  const scored = entry({ hasAlternatives: true });
  it.each([
    { why: 'no server that lists alternatives', tokens: [entry({}), entry({})], logProbs: [0, -1], refused: false },
    { why: 'a certain token, scored', tokens: [scored, scored], logProbs: [0, -1], refused: false },
    { why: 'a drafted token beside scored ones', tokens: [scored, entry({})], logProbs: [-1, 0], refused: true },
    { why: 'a scored token without a list', tokens: [scored, entry({})], logProbs: [-1, -0.1], refused: false },
  ])('$why: $refused', ({ tokens, logProbs, refused }) => {
    const found = unscoredRefusal(tokens, logProbs);
    expect(found !== null && isRefusal(found)).toBe(refused);
  });
});
