import fc from 'fast-check';
import { readMessage } from '../../testing/message-events';
import { canonicalMessage } from '../canonical-conversation';
import type { SseEvent } from '../sse-parser';
import { messageOf } from './messages-answer';
import { messagesRequest } from './messages-request';
import { MessagesStream } from './messages-stream';

type Json = Record<string, unknown>;
const id = '0f8fad5b-d9cb-469f-a165-70867728950e';
const options = { stopSequences: [], showsThinking: true };
const event: SseEvent = { raw: new Uint8Array(), data: '', event: null };

const text = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.stringMatching(/^[ \n]{0,3}[a-z北é ]{0,8}[ \n]{0,3}$/),
  fc.constant('<think>so</think>\n\ndone'),
  fc.constant('ends with </think>'),
);
const wholeArguments = fc
  .tuple(fc.dictionary(fc.string({ maxLength: 4 }), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 4 }), fc.nat(3))
  .map(([value, indent]) => JSON.stringify(value, null, indent));
const odd = fc.oneof(
  fc.constantFrom('', ' ', '"x"', '5', 'null', '[1, 2]', '{"a":1.0,"a":2e1}', '{"n":12345678901234567890}'),
);
const broken = wholeArguments.filter((args) => args.length > 2).map((args) => args.slice(0, -1));

interface Answer {
  readonly reasoning: string;
  readonly content: string;
  readonly refusal: string;
  readonly calls: readonly { readonly id: string; readonly name: string; readonly args: string }[];
}
const answerWith = (args: fc.Arbitrary<string>): fc.Arbitrary<Answer> =>
  fc
    .record({
      reasoning: text,
      content: text,
      refusal: fc.oneof({ weight: 9, arbitrary: fc.constant('') }, { weight: 1, arbitrary: text }),
      calls: fc.array(
        fc.record({ id: fc.stringMatching(/^[a-z]{0,3}$/), name: fc.stringMatching(/^[a-z_]{1,5}$/), args }),
        { maxLength: 4 },
      ),
    })
    // Servers that refuse in a field of their own have no thinking in their texts.
    .filter(({ content, refusal }) => refusal === '' || !`${content}${refusal}`.includes('</think>'));

const engineMessage = ({ reasoning, content, refusal, calls }: Answer): Json => ({
  role: 'assistant',
  content,
  ...(refusal !== '' && { refusal }),
  ...(reasoning !== '' && { reasoning_content: reasoning }),
  ...(calls.length > 0 && {
    tool_calls: calls.map(({ id: callId, name, args }) => ({
      id: callId,
      type: 'function',
      function: { name, arguments: args },
    })),
  }),
});

/** What the client's next request says the answer was. */
function echoed(message: Json): Json {
  const request = messagesRequest(
    {
      max_tokens: 1,
      messages: [
        { role: 'assistant', content: message['content'] },
        { role: 'user', content: 'next' },
      ],
    },
    'vllm',
  );
  if (!request.ok) throw new Error(request.message);
  return (request.chat['messages'] as Json[])[0]!;
}

/** The answer in pieces: each source in its own order, the sources mixed as `picks` say. */
function chunksOf(answer: Answer, cuts: readonly number[], picks: readonly number[]): Json[] {
  let cut = 0;
  const pieces = (whole: string): string[] => {
    const found: string[] = [];
    for (let at = 0; at < whole.length;) {
      const size = 1 + (cuts[cut++ % cuts.length]! % 6);
      found.push(whole.slice(at, at + size));
      at += size;
    }
    return found;
  };
  const sources: object[][] = [
    pieces(answer.reasoning).map((reasoning) => ({ reasoning })),
    pieces(answer.content).map((content) => ({ content })),
    pieces(answer.refusal).map((refusal) => ({ refusal })),
    ...answer.calls.map(({ id: callId, name, args }, index) => [
      { tool_calls: [{ index, id: callId, type: 'function', function: { name, arguments: '' } }] },
      ...pieces(args).map((fragment) => ({ tool_calls: [{ index, function: { arguments: fragment } }] })),
    ]),
  ];
  // Calls begin in their order, as every engine numbers them.
  const begun = answer.calls.map(() => false);
  const chunks: Json[] = [{ model: 'seed', choices: [{ index: 0, delta: { role: 'assistant', content: '' } }] }];
  for (let pick = 0; ; pick++) {
    const ready = sources.filter((source, index) => source.length > 0 && (index < 4 || begun[index - 4]));
    if (ready.length === 0) break;
    const source = ready[picks[pick % picks.length]! % ready.length]!;
    const index = sources.indexOf(source);
    if (index >= 3) begun[index - 3] = true;
    chunks.push({ choices: [{ index: 0, delta: source.shift() }] });
  }
  return [...chunks, { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }];
}

describe('an answer that the client sends back is the answer that the engine gave', () => {
  it('whole', () => {
    fc.assert(
      fc.property(answerWith(fc.oneof(wholeArguments, odd, broken)), (answer) => {
        const message = engineMessage(answer);
        const told = messageOf({ model: 'seed', choices: [{ message, finish_reason: 'stop' }] }, id, options);
        const wire = JSON.parse(JSON.stringify(told)) as Json;
        expect(canonicalMessage(echoed(wire))).toBe(canonicalMessage(message));
        expect(echoed(wire)).toEqual(echoed(wire));
      }),
      { numRuns: 500 },
    );
  });

  it('streamed, in pieces that interleave', () => {
    const numbers = fc.array(fc.nat(50), { minLength: 1, maxLength: 20 });
    fc.assert(
      fc.property(answerWith(fc.oneof(wholeArguments, broken)), numbers, numbers, (answer, cuts, picks) => {
        const stream = new MessagesStream(id, options);
        const written = chunksOf(answer, cuts, picks).flatMap((chunk) => stream.chunk(event, chunk));
        const { message } = readMessage(Buffer.concat([...written, ...stream.done()]).toString());
        expect(canonicalMessage(echoed(message))).toBe(canonicalMessage(engineMessage(answer)));
        const thinking = (message['content'] as Json[]).filter(({ type }) => type === 'thinking');
        expect(thinking.map((block) => block['thinking']).join('')).toBe(answer.reasoning);
      }),
      { numRuns: 500 },
    );
  });
});
