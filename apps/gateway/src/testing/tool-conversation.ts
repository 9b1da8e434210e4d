import fc from 'fast-check';
import type { FakeAnswer, FakeDelta, FakeToken } from './engine-wire';

type Json = Record<string, unknown>;

/** One answer of a scripted conversation, what a client sees of it, and what comes after it. */
export interface ScriptedTurn {
  readonly answer: FakeAnswer;
  readonly message: { readonly content: string; readonly reasoning: string; readonly calls: readonly ScriptedCall[] };
  readonly next: readonly Json[];
  readonly stream: boolean;
  /** Where the bytes of its stream are cut. */
  readonly cuts: readonly number[];
  /** Whether the client keeps the reasoning in its history. */
  readonly keepsReasoning: boolean;
}

export interface ScriptedCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
}

const unicode = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 24 });
const name = fc.constantFrom('read_file', 'search', 'run', 'write_file');
const json = fc.dictionary(fc.constantFrom('path', 'query', 'n', 'é'), fc.oneof(unicode, fc.integer(), fc.boolean()), {
  maxKeys: 3,
});
const tokenId = fc.integer({ min: 0, max: 151_935 });
/** An engine's log-probs are floats of 32 bits widened to 64; a few doubles show that nothing depends on it. */
const logProb = fc.oneof(
  { weight: 8, arbitrary: fc.float({ min: Math.fround(-40), max: 0, noNaN: true }) },
  { weight: 1, arbitrary: fc.double({ min: -40, max: 0, noNaN: true }) },
  { weight: 1, arbitrary: fc.constantFrom(-0, 0, -1.1920928955078125e-7, -1e-5, -0.00009, -1e-40, -3) },
);

/** A token's number and its log-prob, and how many characters it takes of what is left of its text. */
const drawn = fc.record({ id: tokenId, logProb, length: fc.integer({ min: 1, max: 4 }) });
type Drawn = { id: number; logProb: number; length: number };

/** Deals out drawn tokens, over and over where a text needs more of them. */
class Deck {
  private position = 0;
  constructor(private readonly tokens: readonly Drawn[]) {}

  private draw(): Drawn {
    return this.tokens[this.position++ % this.tokens.length]!;
  }

  /** Marks a place in the ids and never shows. */
  control(text: string): FakeToken {
    const { id, logProb: value } = this.draw();
    return { text, id, logProb: value, delta: null };
  }

  /** Tokens whose deltas add up to the text. A piece of more than three characters is held back for a step, as half a character is. */
  spell(text: string, delta: (piece: string) => FakeDelta): FakeToken[] {
    const characters = [...text];
    const tokens: FakeToken[] = [];
    while (characters.length > 0) {
      const { id, logProb: value, length } = this.draw();
      const piece = characters.splice(0, length).join('');
      if (length > 3) tokens.push({ ...this.control('\ufffd') });
      tokens.push({ text: piece, id, logProb: value, delta: delta(piece) });
    }
    return tokens;
  }
}

function tokensOf(deck: Deck, reasoning: string, content: string, calls: readonly ScriptedCall[]): FakeToken[] {
  const tokens: FakeToken[] = [];
  if (reasoning !== '') {
    tokens.push(deck.control('<think>'), ...deck.spell(reasoning, (piece) => ({ reasoning: piece })));
    tokens.push(deck.control('</think>'));
  }
  tokens.push(...deck.spell(content, (piece) => ({ content: piece })));
  calls.forEach((call, index) => {
    const open = { toolCalls: [{ index, id: call.id, name: call.name, arguments: '' }] };
    tokens.push(deck.control('<tool_call>'), { ...deck.control(call.name), delta: open });
    tokens.push(...deck.spell(call.arguments, (piece) => ({ toolCalls: [{ index, arguments: piece }] })));
    tokens.push(deck.control('</tool_call>'));
  });
  return [...tokens, deck.control('<|im_end|>')];
}

const turn = fc
  .record({
    reasoning: fc.oneof(fc.constant(''), unicode),
    content: fc.oneof(fc.constant(''), unicode),
    calls: fc.array(fc.record({ name, arguments: json.map((value) => JSON.stringify(value)) }), { maxLength: 3 }),
    deck: fc.array(drawn, { minLength: 8, maxLength: 40 }),
    promptIds: fc.array(tokenId, { minLength: 1, maxLength: 60 }),
    steps: fc.array(fc.integer({ min: 1, max: 5 }), { maxLength: 8 }),
    follow: unicode,
    stream: fc.boolean(),
    cuts: fc.array(fc.nat(100_000), { maxLength: 12 }),
    keepsReasoning: fc.boolean(),
  })
  .map(({ reasoning, content, calls: drawnCalls, deck, promptIds, steps, follow, ...client }): ScriptedTurn => {
    const calls = drawnCalls.map((call, index) => ({ id: `call_${index}`, ...call }));
    const results = calls.map(({ id }, index) => ({ role: 'tool', tool_call_id: id, content: `${index}: ${follow}` }));
    const tokens = tokensOf(new Deck(deck), reasoning, content, calls);
    return {
      answer: { tokens, promptIds, steps, stopReason: tokens.at(-1)!.id },
      message: { content, reasoning, calls },
      next: calls.length > 0 ? results : [{ role: 'user', content: follow }],
      ...client,
    };
  });

/** Conversations with a tool-using model: 1 to 5 answers of text, reasoning and parallel tool calls in any mixture. */
export const toolConversation = fc.array(turn, { minLength: 1, maxLength: 5 });

/** The answer as a client puts it into its history. */
export function historyMessage({ message, keepsReasoning }: ScriptedTurn): Json {
  const { content, reasoning, calls } = message;
  return {
    role: 'assistant',
    content,
    ...(keepsReasoning && reasoning !== '' && { reasoning_content: reasoning }),
    ...(calls.length > 0 && {
      tool_calls: calls.map(({ id, ...target }) => ({ id, type: 'function', function: target })),
    }),
  };
}

export const someTools: readonly Json[] = ['read_file', 'search', 'run', 'write_file'].map((tool) => ({
  type: 'function',
  function: { name: tool, parameters: { type: 'object', properties: {} } },
}));
