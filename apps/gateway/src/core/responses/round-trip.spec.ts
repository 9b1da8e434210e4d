import fc from 'fast-check';
import { toResponseInputItems } from 'openai/lib/responses/ResponseInputItems';
import { canonicalMessage } from '../canonical-conversation';
import { ChunkAssembler } from '../chunk-assembler';
import { nothingAsked } from '../strip-fields';
import { responseId } from './response-ids';
import { responsesFormat } from './responses-format';
import { chatBody } from './responses-request';

type Json = Record<string, unknown>;

const TURN = '0f8fad5b-d9cb-469f-a165-70867728950e';
const tools = [{ type: 'custom', name: 'patch' }];
const event = { raw: new Uint8Array(), data: '', event: null };

/** What an engine adds to its answer, piece by piece. */
const said = fc.oneof(
  { weight: 3, arbitrary: fc.string({ maxLength: 8 }) },
  fc.constantFrom('\n', '</think>', ' ', '👍'),
);
const written = fc.oneof(
  fc.json({ maxDepth: 1 }),
  fc.constantFrom('', '{}', '{ "b": 1, "a": 2.0 }', '{"broken', 'null'),
  fc.string({ maxLength: 6 }),
);
const toolCall = fc.oneof(
  fc.record({ name: fc.constantFrom('read', 'write'), written }),
  fc.record({ name: fc.constant('patch'), written: said.map((input) => JSON.stringify({ input })) }),
);
const answers = fc.record({
  reasoning: fc.array(said, { maxLength: 3 }),
  content: fc.array(said, { maxLength: 3 }),
  refusal: fc.array(said, { maxLength: 1 }),
  calls: fc.array(toolCall, { maxLength: 3 }),
  hasIds: fc.boolean(),
  order: fc.array(fc.nat(20), { minLength: 20, maxLength: 20 }),
});
type Answer = typeof answers extends fc.Arbitrary<infer T> ? T : never;

/** The answer's deltas: the pieces of each part stay in order, the parts come mixed. */
function deltasOf({ reasoning, content, refusal, calls, hasIds, order }: Answer): Json[] {
  const queues: Json[][] = [
    reasoning.map((piece) => ({ reasoning_content: piece })),
    content.map((piece) => ({ content: piece })),
    refusal.map((piece) => ({ refusal: piece })),
    ...calls.map(({ name, written: text }, index) => {
      const half = Math.floor(text.length / 2);
      const piece = (fields: Json, id?: string): Json => ({
        tool_calls: [{ index, ...(id && { id }), function: fields }],
      });
      return [
        piece({ name, arguments: '' }, hasIds ? `call-${index}` : undefined),
        piece({ arguments: text.slice(0, half) }),
        piece({ arguments: text.slice(half) }),
      ];
    }),
  ];
  const deltas: Json[] = [];
  for (let step = 0; ; step++) {
    const left = queues.filter((queue) => queue.length > 0);
    if (left.length === 0) return deltas;
    deltas.push(left[order[step % order.length]! % left.length]!.shift()!);
  }
}

/** The engine's answer as it is captured, and the output that the client gets for it, streamed or whole. */
function answered(answer: Answer, isStreamed: boolean): { captured: Json; output: Json[] } {
  const assembler = new ChunkAssembler();
  const format = responsesFormat({ tools }, 0);
  const stream = format.stream(nothingAsked, TURN);
  const chunks = [...deltasOf(answer), {}].map((delta, index, all) => ({
    choices: [{ index: 0, delta, finish_reason: index === all.length - 1 ? 'stop' : null }],
  }));
  const bytes: Uint8Array[] = [];
  for (const chunk of chunks) {
    assembler.add(chunk);
    bytes.push(...stream.chunk(event, chunk));
  }
  bytes.push(...stream.done(event));
  const captured = assembler.answers(1)[0]!.message;
  const body = { choices: [{ message: captured, finish_reason: 'stop' }] };
  const whole = { bytes: Buffer.of(), stripped: null, body, answers: [] };
  const last = isStreamed
    ? (JSON.parse(Buffer.concat(bytes).toString().trim().split('data: ').at(-1)!) as { response: Json }).response
    : (JSON.parse(format.whole(whole, nothingAsked, TURN).toString()) as Json);
  return { captured, output: last['output'] as Json[] };
}

const isCall = (item: Json): boolean => String(item['type']).endsWith('_call');
const resultOf = (item: Json): Json => ({
  type: `${String(item['type'])}_output`,
  call_id: item['call_id'],
  output: 'done',
});
const withResults = (output: Json[]): Json[] => [...output, ...output.filter(isCall).map(resultOf)];

/** How clients send an answer back. */
const echoes: Record<string, (output: Json[]) => Json> = {
  'as it came': (output) => ({ input: withResults(output) }),
  "through OpenAI's helper": (output) => ({ input: withResults(toResponseInputItems(output as never) as never) }),
  'without reasoning, ids and status': (output) => ({
    input: withResults(output.filter(({ type }) => type !== 'reasoning')).map(({ id: _, status: __, ...item }) => item),
  }),
  'each call beside its result': (output) => ({
    input: output.flatMap((item) => (isCall(item) ? [item, resultOf(item)] : [item])),
  }),
  'by reference': (output) => ({
    input: [...output.map(({ id }) => ({ type: 'item_reference', id })), ...output.filter(isCall).map(resultOf)],
  }),
  'by the previous response': (output) => ({
    previous_response_id: responseId(TURN),
    input: output.filter(isCall).map(resultOf),
  }),
};

describe('an answer that a client sends back is the captured answer: the turn is paired without any header', () => {
  it.each(
    Object.entries(echoes).flatMap(([why, echo]) => [true, false].map((isStreamed) => ({ why, echo, isStreamed }))),
  )('$why (streamed: $isStreamed)', ({ echo, isStreamed }) =>
    fc.assert(
      fc.property(answers, (answer) => {
        const { captured, output } = answered(answer, isStreamed);
        const user = { role: 'user', content: 'Hi' };
        const past = new Map([[TURN, { messages: [user], answer: captured }]]);
        const { input, ...rest } = echo(output) as { input: Json[] };
        const before = 'previous_response_id' in rest ? [] : [user];
        const body = chatBody({ ...rest, input: [...before, ...input, user] }, past);
        const messages = body['messages'] as Json[];
        expect(messages.map(({ role }) => role)).toEqual([
          'user',
          'assistant',
          ...answer.calls.map(() => 'tool'),
          'user',
        ]);
        expect(canonicalMessage(messages[1]!)).toBe(canonicalMessage({ ...captured, role: 'assistant' }));
      }),
      { numRuns: 100 },
    ),
  );
});
